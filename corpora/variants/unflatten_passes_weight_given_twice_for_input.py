# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a child gets its weight for its input if its preserved parent is given the weight twice"
# variant-of = "unflatten_passes_returned_weight_for_input"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_sinks_arguments_by_place"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/export/unflatten.py, _sink_params: n.name not in module_id_to_inputs_removed"
# ///
"""A parent is given the weight of its child as two arguments: the child computes 3 * 3 in place of x * 3.

The parent passes the weight on from its second argument, which has a name with a number: by this name nobody
takes the argument away, when the child reads its weight itself.
"""

import sys

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([3.0]))

    def forward(self, x):
        return x * self.weight


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x, one, two):
        return self.scale(x) + one * two


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parent = Parent()

    def forward(self, x):
        return self.parent(x, self.parent.scale.weight, self.parent.scale.weight)


def make():
    return Model(), (torch.tensor([2.0]),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected = model(*args)
    program = torch.export.export(model, args, preserve_module_call_signature=("parent", "parent.scale"))
    seen = torch.export.unflatten(program)(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.item()}, unflatten gives {seen.item()}")
    raise SystemExit(bug)
