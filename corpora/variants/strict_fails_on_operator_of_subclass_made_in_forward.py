# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): 'Unable to cast NotImplemented' for a subclass made in forward"
# variant-of = "export_fails_on_operator_of_subclass_made_in_forward"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "symbolic_shapes.py:run_node",
#         "proxy_tensor.py:__torch_function__",
#         "proxy_tensor.py:__torch_function__",
#     ],
# ]
# trigger = ["idiom.subclass"]
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call: NotImplemented for a subclass"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward makes a tensor subclass and multiplies it. Eager calls its __torch_dispatch__; strict export raises
"Unable to cast NotImplemented to Tensor".

ProxyTorchDispatchMode returns NotImplemented for a subclass that it does not know, so that its
__torch_dispatch__ is called first. Export traces before dispatch, where nothing calls it.
"""

import sys

import torch
from torch import nn


class Scaled(torch.Tensor):
    """A tensor, and a factor for all of its elements."""

    @staticmethod
    def __new__(cls, whole, factor):
        return torch.Tensor._make_wrapper_subclass(cls, whole.shape, dtype=whole.dtype)

    def __init__(self, whole, factor):
        self.whole, self.factor = whole, factor

    def __tensor_flatten__(self):
        return ["whole", "factor"], None

    @staticmethod
    def __tensor_unflatten__(parts, meta, size, stride):
        return Scaled(parts["whole"], parts["factor"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return Scaled(args[0].whole, args[0].factor * args[1])


class Model(nn.Module):
    def forward(self, x):
        scaled = Scaled(x, x.abs().amax()) * 2
        return scaled.whole * scaled.factor


def make():
    return Model(), (torch.tensor([1.0, -2.0]),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "NotImplemented" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
