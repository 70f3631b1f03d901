# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD350"
# title = "unflatten: silently drops the gradient hooks of parameters"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a hook that masks the gradient of a weight, to train a part of it"
# topics = ["hooks", "autograd"]
# cause = """
# `UnflattenedModule.__init__` makes a new parameter from a clone of each parameter. The new one has none of
# the hooks that `register_hook` and `register_post_accumulate_grad_hook` added. `ep.module()` has the
# parameters themselves, with their hooks. unflatten should copy the hooks too."""
# path = "nonstrict:unflatten@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "unflatten_copies_hooks_of_parameters"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: param.clone() has no hooks"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Only the first row of an embedding is trained: a hook sets the gradient of the others to zero. After
unflatten, all rows are trained.

`UnflattenedModule.__init__` makes a new parameter from a clone of each parameter. The new one has none of the
hooks that `register_hook` and `register_post_accumulate_grad_hook` added. `ep.module()` has the parameters
themselves, with their hooks. unflatten should copy the hooks too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(3, 2)
        self.embedding.weight.register_hook(lambda grad: grad * torch.tensor([[1.0], [0.0], [0.0]]))

    def forward(self, ids):
        return self.embedding(ids)  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.tensor([0, 1, 2]),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    model(*args).sum().backward()
    unflattened(*args).sum().backward()
    return model.embedding.weight.grad, unflattened.embedding.weight.grad


def make_workaround():
    """Mask the gradient in forward, by arithmetic with a detached copy."""

    class Masking(Model):
        def __init__(self):
            super().__init__()
            self.embedding.weight = nn.Parameter(self.embedding.weight.detach())  # without the hook
            self.register_buffer("mask", torch.tensor([[1.0], [0.0], [0.0]]), persistent=False)

        def forward(self, ids):
            weight = self.embedding.weight
            weight = torch.where(self.mask > 0, weight, weight.detach())
            return nn.functional.embedding(ids, weight)

    torch.manual_seed(0)
    return Masking(), (torch.tensor([0, 1, 2]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
