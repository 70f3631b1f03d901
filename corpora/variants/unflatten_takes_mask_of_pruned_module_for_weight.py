# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: uses the mask instead of the weight in a preserved module that was pruned"
# variant-of = "unflatten_reads_operand_in_preserved_module"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_passes_what_is_no_mutation"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _IVals.read: mf.remap_input(node.args[0])"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A linear layer is pruned with torch.nn.utils.prune. With its signature preserved, the unflattened model
computes with the mask.

prune computes the weight in a forward pre-hook, the product of mask and parameter. The hook runs before the
preserved call begins, so that the product belongs to the parent. `_IVals.read` takes it for an update of
state, and reads its first operand, the mask.
"""

import sys

import torch
from torch import nn
from torch.nn.utils import prune


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 1, bias=False)
        nn.init.constant_(self.linear.weight, 3)
        prune.l1_unstructured(self.linear, "weight", amount=1)

    def forward(self, x):
        return self.linear(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("linear",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.item()}, unflatten gives {got.item()}")
    raise SystemExit(bug)
