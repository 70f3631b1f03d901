# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD279"
# former-ids = ["XD268"]
# title = "unflatten: trains a parameter through a buffer that is detached from it"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a buffer that keeps the start value of a weight, registered as weight.detach()"
# topics = ["tied-weights", "buffers", "no-grad", "dtypes"]
# cause = """
# unflatten identifies tensors by storage, sizes, strides and offset (`_TensorID`), so that the parameter and
# the buffer are one. It should distinguish parameters from buffers. It also takes a tensor for its view in
# another dtype, and for its lazy conjugate or negative."""
# path = "nonstrict:unflatten@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "unflatten_tells_parameters_from_their_views"
# upstream = "https://github.com/pytorch/pytorch/pull/125758"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, consts_map"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The buffer `frozen` is `weight.detach()`, and no gradient flows through it. Unflattened, the weight gets
twice the gradient.

unflatten identifies tensors by storage, sizes, strides and offset (`_TensorID`), so that the parameter and
the buffer are one. It should distinguish parameters from buffers. It also takes a tensor for its view in
another dtype, and for its lazy conjugate or negative.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return (x * self.weight + x * self.frozen).sum()  # first difference


def make():
    model = Model()
    model.weight = torch.nn.Parameter(torch.ones(1))
    model.register_buffer("frozen", model.weight.detach())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    model(*args).backward()
    unflattened(*args).backward()
    return model.weight.grad, unflattened.weight.grad


def make_workaround():
    """Keep the buffer, but detach the parameter in forward."""

    class Detaching(Model):
        def forward(self, x):
            return (x * self.weight + x * self.weight.detach()).sum()

    model = Detaching()
    model.weight = torch.nn.Parameter(torch.ones(1))
    model.register_buffer("frozen", model.weight.detach())
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
