# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD369"
# title = "torch.export under no_grad: linear_cross_entropy with options has no gradients later"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a language model with a chunked loss, exported under no_grad and trained afterwards"
# topics = ["losses", "autograd"]
# cause = """
# With options, `linear_cross_entropy` computes its gradients in the forward pass, and only those of tensors
# that require gradients while gradients are enabled. Export records these answers as constants of the
# operator. When the program is trained, the loss has a backward pass, but it gives no gradients. During
# export, the function should compute all of them."""
# path = "nonstrict+under_no_grad:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "none", "state", "lost"]]
# fix = "exported_linear_cross_entropy_computes_all_gradients"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/nn/functional.py, linear_cross_entropy: is_grad_enabled() becomes a constant"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "cannot run"
# "2.11.0" = "cannot run"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a chunked linear_cross_entropy is exported under no_grad, and trained afterwards. The loss is
right, but backward gives no gradients, and raises no error.

With options, `linear_cross_entropy` computes its gradients in the forward pass, and only those of tensors
that require gradients while gradients are enabled. Export records these answers as constants of the operator.
When the program is trained, the loss has a backward pass, but it gives no gradients. During export, the
function should compute all of them.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 3, bias=False)

    def forward(self, x, target):
        options = nn.LinearCrossEntropyOptions()
        return F.linear_cross_entropy(x, self.head.weight, target, options=options)  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 2), torch.tensor([0, 2]))


def gradient(module, args):
    module.zero_grad()
    module(*args).backward()
    return next(module.parameters()).grad


def show():
    model, args = make()
    with torch.no_grad():
        program = torch.export.export(model, args)
    return gradient(model, args), gradient(program.module(), args)


def make_workaround():
    """Enable gradients around the loss."""

    class Enabled(Model):
        def forward(self, x, target):
            with torch.enable_grad():
                return super().forward(x, target)

    torch.manual_seed(0)
    return Enabled(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = got is None or not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)
