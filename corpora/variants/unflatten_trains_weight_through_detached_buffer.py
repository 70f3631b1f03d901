# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a gradient flows into a parameter through a buffer that is detached from it"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "unflatten_tells_parameters_from_their_views"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, consts_map"
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
the buffer are one.
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


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
