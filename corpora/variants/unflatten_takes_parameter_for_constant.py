# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a gradient flows into a parameter through a plain attribute that is detached from it"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "none", "state", "new"]]
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
"""`part` is `w.detach()`, so that w gets no gradient in eager. Unflattened, w is trained.

unflatten identifies tensors by storage, sizes, strides and offset (`_TensorID`), so that the parameter and
the attribute are one.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * self.part


def make():
    model = Model()
    model.w = torch.nn.Parameter(torch.ones(1))
    model.part = model.w.detach()
    return model, (torch.ones(1, requires_grad=True),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    model(*args).backward()
    unflattened(*args).backward()
    return model.w.grad, unflattened.w.grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = got is not None
    print(f"{'BUG' if bug else 'ok'}: the gradient of w is {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
