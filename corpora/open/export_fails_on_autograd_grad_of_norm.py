# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD383"
# title = "torch.export: RuntimeError for torch.autograd.grad of an energy that uses norm, tanh or a layer"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "forces as the derivative of an energy, and gradient penalties, computed in forward"
# evidence = [
#   "https://github.com/ACEsuit/mace/blob/main/mace/modules/utils.py",
#   "https://github.com/pytorch/pytorch/issues/125984",
# ]
# topics = ["autograd"]
# cause = """
# `norm` saves its result for the backward pass. Autograd gives it back as a new tensor object, but the tracer
# finds the proxy of a tensor by the object. So it finds none, and makes a constant of the fake tensor, which
# export refuses. The tracer should recognize tensors that autograd has saved."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "We found fake tensor in the exported program"],
# ]
# trigger = ["idiom.func_grad"]
# upstream = "https://github.com/pytorch/pytorch/issues/146719"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185496"
# upstream-searched = "2026-11-27"
# at-fault = "torch/fx/experimental/proxy_tensor.py, get_proxy_slot: looks for the very object of a tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns a force: the derivative of a distance with respect to a position. Export raises
RuntimeError about a fake tensor, and asks to file an issue.

`norm` saves its result for the backward pass. Autograd gives it back as a new tensor object, but the tracer
finds the proxy of a tensor by the object. So it finds none, and makes a constant of the fake tensor, which
export refuses. The tracer should recognize tensors that autograd has saved.
"""

import sys

import torch
from torch.fx.experimental.proxy_tensor import make_fx


class Model(torch.nn.Module):
    def forward(self, position):
        return torch.autograd.grad(position.norm(), position)[0]


def make():
    return Model(), (torch.ones(2, requires_grad=True),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Trace the derivative with make_fx, before the export."""

    class Traced(Model):
        def __init__(self):
            super().__init__()
            self.derivative = make_fx(Model())(torch.ones(2, requires_grad=True))

        def forward(self, position):
            return self.derivative(position).detach()

    return Traced(), (torch.ones(2, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "found a fake tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
