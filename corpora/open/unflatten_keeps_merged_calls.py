# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD257"
# title = "unflatten: a deep copy of a submodule raises AttributeError if the submodule calls its child twice"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a copy of a submodule whose child is called twice"
# topics = ["copies", "shared-modules"]
# cause = """
# unflatten makes a GraphModule of each module, and later merges equal calls (`_deduplicate_modules`). The
# GraphModule of the parent still calls "child@1". It should be made after the calls are merged."""
# path = "nonstrict+duplicate:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AttributeError", "object has no attribute"]]
# fix = "unflatten_finalizes_last"
# upstream = "https://github.com/pytorch/pytorch/pull/137013"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _deduplicate_modules: the graph_module of each parent is older"
# workaround = "none: copy the program, and unflatten the copy"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child is called twice by its parent. In the unflattened module, a deep copy of the parent raises
AttributeError.

unflatten makes a GraphModule of each module, and later merges equal calls (`_deduplicate_modules`). The
GraphModule of the parent still calls "child@1". It should be made after the calls are merged.
"""

import copy
import sys

import torch


class Parent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.nn.Sequential(torch.nn.ReLU())

    def forward(self, x):
        return self.child(x + 1) + self.child(x)


def make():
    return torch.nn.Sequential(Parent()), (torch.ones(1),)


def show():
    model, args = make()
    parent = torch.export.unflatten(torch.export.export(model, args)).get_submodule("0")
    return copy.deepcopy(model[0])(*args), copy.deepcopy(parent)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: a copy of eager raises nothing, of unflatten raises {error}")
    print(f"ok: a copy of eager gives {expected}, of unflatten: {got}")
