# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD153"
# title = "unflatten: the forward pre-hook of a preserved submodule runs twice once the submodule is replaced"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a preserved submodule with a forward pre-hook, replaced: the hook silently runs twice"
# topics = ["hooks"]
# cause = """
# The hook of `_wrap_submodule` that records the arguments of a preserved call runs after the hooks of the
# module. So the call is recorded with what these return, and the parent computes the doubling. The new child
# doubles again. The hook should be registered with prepend=True."""
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "preserved_call_before_pre_hooks"
# upstream = "https://github.com/pytorch/pytorch/pull/120468"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/wrappers.py, _wrap_submodule: register_forward_pre_hook without prepend"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` has a forward pre-hook that doubles its input. In the unflattened module, `child` is replaced by an
equal module: 5 instead of 3.

The hook of `_wrap_submodule` that records the arguments of a preserved call runs after the hooks of the
module. So the call is recorded with what these return, and the parent computes the doubling. The new child
doubles again. The hook should be registered with prepend=True.
"""

import sys

import torch


def double(module, args):
    return (args[0] * 2,)  # first difference


class AddOne(torch.nn.Module):
    def forward(self, x):
        return x + 1


def make():
    model = torch.nn.Sequential()
    model.child = AddOne()
    model.child.register_forward_pre_hook(double)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    unflattened = torch.export.unflatten(ep)
    unflattened.child = make()[0].child
    return model(*args), unflattened(*args)


def make_workaround():
    """Do in the parent what the hook does."""

    class Doubling(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.child = AddOne()

        def forward(self, x):
            return self.child(x * 2)

    return Doubling(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten with its child replaced {got}")
    raise SystemExit(bug)
