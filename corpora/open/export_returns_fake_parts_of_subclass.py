# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD335"
# title = "torch.export: a tensor subclass that forward makes and returns has fake tensors as its parts"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that quantizes its results, or returns another tensor subclass"
# topics = ["quantization", "constants"]
# cause = """
# The tracer does not know the new subclass, and takes it for a constant. Its parts are fake tensors of the
# trace, which the program returns on each call. It should record the call of the constructor, or raise an
# error."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind", "fresh"]]
# fix = "export_refuses_subclasses_made_in_forward"
# upstream = "https://github.com/pytorch/pytorch/issues/153387"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185564"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PythonKeyTracer.create_arg: lifts a new subclass"
# workaround = "none: only the private mark_subclass_constructor_exportable_experimental on __init__"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward makes a tensor subclass and returns it. The exported program returns its fake tensors.

The tracer does not know the new subclass, and takes it for a constant. Its parts are fake tensors of the
trace, which the program returns on each call. It should record the call of the constructor, or raise an
error.
"""

import sys

import torch
from torch import nn


class Scaled(torch.Tensor):
    """A tensor, and a factor for all of its elements."""

    def __new__(cls, whole, factor):
        return torch.Tensor._make_wrapper_subclass(cls, whole.shape, dtype=whole.dtype)

    def __init__(self, whole, factor):
        self.whole, self.factor = whole, factor

    def __tensor_flatten__(self):
        return ["whole", "factor"], None

    def __tensor_unflatten__(parts, meta, size, stride):
        return Scaled(parts["whole"], parts["factor"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return Scaled(args[0].whole, args[0].factor)


class Model(nn.Module):
    def forward(self, x):
        return Scaled(x / 2, x.abs().amax())  # first difference


def make():
    return Model(), (torch.tensor([1.0, -2.0]),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return type(model(*args).factor), type(program(*args).factor)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition(",")[0])
        raise SystemExit(0) from None
    bug = expected is not got
    print(f"{'BUG' if bug else 'ok'}: in eager, the part is a {expected.__name__}, here a {got.__name__}")
    raise SystemExit(bug)
