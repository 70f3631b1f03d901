# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD277"
# title = "unflatten: a non-persistent buffer that two modules share becomes two tensors"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a position or mask that a model and its layers register with persistent=False, and update"
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
"""A model and its child share a non-persistent buffer, a count. The model counts its calls. Unflattened, the
child never sees the new count.

The loop over constants should clone each of them once. It stores the clone under `_id(constant)` after
`constant = constant.clone()`, so under the identity of the clone, and never finds it again.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + self.count


class Model(torch.nn.Module):
    def forward(self, x):
        y = self.child(x)
        self.count.add_(1)
        return y


def make():
    model = Model()
    model.child = Child()
    model.register_buffer("count", torch.zeros(1), persistent=False)
    model.child.register_buffer("count", model.count, persistent=False)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return [model(*args) for _ in range(2)], [unflattened(*args) for _ in range(2)]


def make_workaround():
    """Register the buffer in one module only, and pass it to the other."""

    class Taking(Child):
        def forward(self, x, count):
            return x + count

    class Passing(Model):
        def forward(self, x):
            y = self.child(x, self.count)
            self.count.add_(1)
            return y

    model = Passing()
    model.child = Taking()
    model.register_buffer("count", torch.zeros(1), persistent=False)
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: two calls give {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
