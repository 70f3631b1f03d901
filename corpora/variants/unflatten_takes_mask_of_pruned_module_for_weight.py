# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten uses the mask instead of the weight in a preserved module pruned by torch.nn.utils.prune"
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
"""If the signature of a pruned module is preserved, unflatten computes with the mask in place of the weight.

torch.nn.utils.prune sets the weight in a forward pre-hook, to the product of a mask and the parameter. The
hook runs before the preserved call begins, so that the product is a node of the parent, which the module does
not get as an argument: unflatten takes the first operand of the product for it, the mask.
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
