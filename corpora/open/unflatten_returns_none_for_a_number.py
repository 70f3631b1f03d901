# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD271"
# title = "unflatten: a preserved submodule returns None instead of a number or bool"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a preserved submodule that returns a number, called on its own: silently None"
# topics = ["containers", "arguments"]
# cause = """
# `finalize_outputs` returns None for each output that has no node. A constant has none; its value is in the
# signature. The model itself is right, as its graph does not use the number."""
# path = "nonstrict+preserve+children:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "python-value", "fresh"]]
# fix = "unflatten_returns_constants_of_module"
# upstream = "https://github.com/pytorch/pytorch/pull/128260"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.finalize_outputs: orig_outputs.append(None)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child returns a tensor and the number 3. The unflattened child returns None in place of the
number.

`finalize_outputs` returns None for each output that has no node. A constant has none; its value is in the
signature. The model itself is right, as its graph does not use the number.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + 1, 3  # first difference


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        y, factor = self.child(x)
        return y * factor


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model.child(*args)[1], torch.export.unflatten(ep).child(*args)[1]


def make_workaround():
    """Return the tensor only, and keep the number in the caller."""

    class Single(Child):
        def forward(self, x):
            return x + 1

    class Keeping(Model):
        def __init__(self):
            super().__init__()
            self.child = Single()

        def forward(self, x):
            return self.child(x) * 3

    return Keeping(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the unflattened child returns {got}")
    raise SystemExit(bug)
