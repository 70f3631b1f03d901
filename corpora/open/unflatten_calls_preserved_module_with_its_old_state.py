# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD230"
# title = "unflatten: functional_call has no effect on a preserved submodule that is called twice"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a preserved submodule that is called twice, given other parameters: silently ignored"
# topics = ["shared-modules", "autograd"]
# cause = """
# A preserved submodule that is called twice becomes an InterpreterModuleDispatcher, which has the parameters.
# functional_call replaces these, but the dispatcher runs the modules of the calls, which it has in a plain
# list, with parameters of their own."""
# path = "nonstrict+preserve+functional:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "dispatcher_lends_its_state_to_each_call"
# upstream = "https://github.com/pytorch/pytorch/pull/139439"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, InterpreterModuleDispatcher.__init__: _call_modules is a list"
# workaround = "none: give the unflattened module other values with load_state_dict, which works"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""functional_call passes zeros for all weights of an unflattened module. The result is that of its own
weights.

A preserved submodule that is called twice becomes an InterpreterModuleDispatcher, which has the parameters.
functional_call replaces these, but the dispatcher runs the modules of the calls, which it has in a plain
list, with parameters of their own.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.nn.Linear(1, 1)

    def forward(self, x):
        return self.child(self.child(x))  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    zero = {"child.weight": torch.zeros(1, 1), "child.bias": torch.zeros(1)}
    expected = torch.func.functional_call(model, zero, args)
    return expected, torch.func.functional_call(torch.export.unflatten(ep), zero, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: with zeros, eager returns {expected}, the unflattened module {got}")
    raise SystemExit(bug)
