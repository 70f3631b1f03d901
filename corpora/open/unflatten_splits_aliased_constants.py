# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD277"
# title = "unflatten: a non-persistent buffer shared by two modules becomes two tensors"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a non-persistent buffer shared by two modules and updated"
# topics = ["tied-weights", "buffers"]
# cause = """
# The loop over constants should clone each of them once. It stores the clone under `_id(constant)` after
# `constant = constant.clone()`, so under the identity of the clone, and never finds it again."""
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several"]]
# fix = "unflatten_shares_constants"
# upstream = "https://github.com/pytorch/pytorch/pull/125758"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over constants"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two modules share a non-persistent buffer. Unflattened, an update in one is not visible in the other.

The loop over constants should clone each of them once. It stores the clone under `_id(constant)` after
`constant = constant.clone()`, so under the identity of the clone, and never finds it again.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + self.count.add_(1)


def make():
    model = Model()
    model.child = torch.nn.Module()
    model.register_buffer("count", torch.zeros(1), persistent=False)
    model.child.register_buffer("count", model.count, persistent=False)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    model(*args)
    unflattened(*args)
    return model.child.count, unflattened.child.count


def make_workaround():
    """Register the buffer in one module only."""
    model = Model()
    model.child = torch.nn.Module()
    model.register_buffer("count", torch.zeros(1), persistent=False)
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in child.count, unflatten leaves {got}")
    raise SystemExit(bug)
