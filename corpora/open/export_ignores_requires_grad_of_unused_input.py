# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "requires_grad_ on an input that is not used is left out of the graph"
# path = "nonstrict:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "requires-grad"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.requires_grad_"
# ///
"""The model switches on gradients for a tensor of its caller; the exported program leaves it as it was.

As in export_ignores_requires_grad_of_input.py, but nothing is computed from the input, so that it does not
show in the outputs: only whoever handed in `y` sees that its flag was not set.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        y.requires_grad_()
        return x + 1


def make():
    return Model(), (torch.ones(1), torch.ones(1))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    (_, ours), (_, theirs) = make()[1], make()[1]
    model(args[0], ours)
    program(args[0], theirs)
    expected, seen = ours.requires_grad, theirs.requires_grad
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: y.requires_grad is {expected} after eager, {seen} after the program")
    sys.exit(bug)
