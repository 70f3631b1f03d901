# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten gives a buffer that begins within its memory one that begins at offset 0"
# path = "nonstrict:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "offset"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over graph_signature.buffers"
# ///
"""Set to a buffer, the input begins at offset 1 in eager and with `ep.module()`, at 0 with unflatten.

Buffers are copied with clone(), which packs the second element of two into memory of its own. The cause is
that of unflatten_packs_strided_buffer.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("part", torch.zeros(2)[1:])

    def forward(self, x):
        x.set_(self.part)
        return x + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, (x,) = make()
    model(x)
    expected = x.storage_offset()
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    (x,) = make()[1]
    unflattened(x)
    seen = x.storage_offset()
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: eager sets the input to offset {expected}, unflatten to {seen}")
    sys.exit(bug)
