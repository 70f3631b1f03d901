# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after export, a constant whose .data forward assigns no longer shares memory with a parameter"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "sharing"]]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
# ///
"""`part` is the parameter `w` without its gradient; exporting parts the two for good.

Assigning to the .data of a tensor that is a plain attribute puts the storage of a fake tensor into the
user's own. The cause is that of export_turns_constant_into_meta_tensor.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1))
        self.part = self.w.detach()

    def forward(self, x):
        self.part.data = x
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def shared(model):
    return model.part.untyped_storage()._cdata == model.w.untyped_storage()._cdata


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    before = shared(model)
    torch.export.export(model, args, strict=False)
    after = shared(model)
    bug = before != after
    print(f"{'BUG' if bug else 'ok'}: part and w share memory: {before} before export, {after} after it")
    sys.exit(bug)
