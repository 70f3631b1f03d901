# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "with nested checkpoints, the exported program has no gradients from there on"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: _set_grad_enabled"
# ///
"""A checkpoint in a checkpoint: `backward()` of the result works in eager, and raises after export.

To save its input, the inner one calls the hook of the outer, which enters torch.no_grad(). Autograd has
switched gradients off around the hook, in C++, so that leaving no_grad restores "off". The mode that traces
records both changes, but not what C++ restores: all that follows is wrapped in a no_grad region. A
torch.autograd.Function with a no_grad block in its forward does the same.
"""

import sys
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def inner(self, x):
        return checkpoint(torch.sin, x, use_reentrant=False)

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False) * self.w


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    expected, seen = model(*args).requires_grad, program(*args).requires_grad
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: eager result requires_grad {expected}, exported one {seen}")
    sys.exit(bug)
