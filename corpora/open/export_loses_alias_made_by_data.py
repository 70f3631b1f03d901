# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "two tensors made one by an assignment to .data stay two"
# path = "nonstrict:module@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "no-longer-shared", "output"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
# ///
"""After `y.data = z` the two live in one memory: a write to one result shows in the other, but not here.

As in export_ignores_assignment_to_data.py, but the values are equal beforehand, so that nothing shows until
somebody writes to an output.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        z = x + 1
        y.data = z
        return y, z


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    (ours, z), (theirs, other) = model(*args), program(*args)
    z.zero_()
    other.zero_()
    bug = not torch.equal(ours, theirs)
    print(f"{'BUG' if bug else 'ok'}: z.zero_() leaves y {ours} in eager, {theirs} in the exported program")
    sys.exit(bug)
