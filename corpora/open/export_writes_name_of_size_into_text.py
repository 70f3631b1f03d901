# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD340"
# title = "torch.export: the text of a dynamic size, f'{x.shape[0]}', is 's24' instead of '2'"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a table whose keys are texts of sizes, or a cache whose key has a size in it"
# topics = ["dynamic-sizes"]
# cause = """
# While torch.export traces, a dynamic size is a SymInt. Its `__str__` returns the name of its symbol. Python
# computes with this text, and no guard is made. The text should be that of the example's size, with a guard,
# or export should refuse."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "value", "fresh"],
#   ["outputs", "mismatch", "structure"],
#   ["outputs", "mismatch", "python-value", "fresh"],
# ]
# trigger = ["idiom.text_of_sizes"]
# upstream = "https://github.com/pytorch/pytorch/issues/129882"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/__init__.py, SymInt.__repr__: the text of the symbol, without a guard"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model looks up a factor by the text of its batch size. The program does not find it, already for the
example, and uses 1 instead.

While torch.export traces, a dynamic size is a SymInt. Its `__str__` returns the name of its symbol. Python
computes with this text, and no guard is made. The text should be that of the example's size, with a guard,
or export should refuse.
"""

import sys

import torch
from torch.export import Dim


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factors = {"2": 0.5}

    def forward(self, x):
        return x * self.factors.get(f"{x.shape[0]}", 1.0)  # first difference


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return {"x": {0: Dim.AUTO}}


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes()).module()
    return model(*args), program(*args)


def make_workaround():
    """Convert the size to an int first. This fixes it in the program."""

    class Converted(Model):
        def forward(self, x):
            return x * self.factors.get(f"{int(x.shape[0])}", 1.0)

    return Converted(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
