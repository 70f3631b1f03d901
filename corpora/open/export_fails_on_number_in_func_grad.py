# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD356"
# title = "torch.export: 'Cannot access data pointer' for torch.func.grad of a product with a number"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "models that return a derivative, such as forces from an energy, with a constant factor"
# topics = ["autograd"]
# cause = """
# Within torch.func.grad, the number becomes a tensor in a functorch wrapper, which has no memory. Export
# traces the backward pass before dispatch, and gets the arguments of each operator from C++. `toPyObject`
# turns a tensor that was a number back into a number, and reads the memory of the wrapper. It should unwrap
# the tensor first."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "Cannot access data pointer of Tensor that doesn"],
# ]
# trigger = ["region.func_grad"]
# upstream = "https://github.com/pytorch/pytorch/issues/94851"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/csrc/jit/python/pybind_utils.cpp, toPyObject: reads a number without unwrapping it"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns the derivative of a product with a number. Eager runs; export raises RuntimeError.

Within torch.func.grad, the number becomes a tensor in a functorch wrapper, which has no memory. Export traces
the backward pass before dispatch, and gets the arguments of each operator from C++. `toPyObject` turns a
tensor that was a number back into a number, and reads the memory of the wrapper. It should unwrap the tensor
first.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.func.grad(lambda x: (0.5 * x.square()).sum())(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Compute the derivative with torch.func.jvp."""

    class Forward(Model):
        def forward(self, x):
            return torch.func.jvp(lambda x: 0.5 * x.square(), (x,), (torch.ones_like(x),))[1]

    return Forward(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "data pointer" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
