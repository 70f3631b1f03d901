# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD406"
# title = "torch.export(strict=True): RuntimeError if forward takes a tensor after a tensor subclass"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a quantized or masked tensor as input, whose data forward reads, and a second input"
# topics = ["arguments", "quantization"]
# cause = """
# Dynamo makes an input of its graph of the part of the subclass that forward reads, then one of the second
# tensor. `_dynamo_graph_capture_for_export` counts only the inputs that are arguments, and so takes the first
# for the second tensor. It should take the number that Dynamo gave to the input."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [
#   [
#     "outputs", "crash", "export", "RuntimeError",
#     "utils.py:flat_fn", "graph_capture_wrappers.py:functional_call", "symbolic_shapes.py:run_node",
#   ],
# ]
# fix = "strict_counts_inputs_before_arguments"
# upstream = "https://github.com/pytorch/pytorch/pull/173268"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = """
# torch/_dynamo/functional_export.py, _dynamo_graph_capture_for_export: graph_input_order[source.index] =
# len(graph_input_order)"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward takes a tensor subclass and then a plain tensor, and reads a part of the subclass. Strict export
raises RuntimeError.

Dynamo makes an input of its graph of the part of the subclass that forward reads, then one of the second
tensor. `_dynamo_graph_capture_for_export` counts only the inputs that are arguments, and so takes the first
for the second tensor. It should take the number that Dynamo gave to the input.
"""

import sys

import torch
from torch import nn


class Masked(torch.Tensor):
    """A tensor, and a mask of the elements that count."""

    @staticmethod
    def __new__(cls, whole, mask):
        return torch.Tensor._make_wrapper_subclass(cls, whole.shape, dtype=whole.dtype)

    def __init__(self, whole, mask):
        self.whole, self.mask = whole, mask

    def __tensor_flatten__(self):
        return ["whole", "mask"], None

    @staticmethod
    def __tensor_unflatten__(parts, meta, size, stride):
        return Masked(parts["whole"], parts["mask"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """Apply an operator to the whole. forward calls none."""
        masked = next(each for each in args if isinstance(each, Masked))
        out = func(*[each.whole if each is masked else each for each in args], **(kwargs or {}))
        return Masked(out, masked.mask) if isinstance(out, torch.Tensor) else out


class Model(nn.Module):
    def forward(self, x, y):
        return torch.where(x.mask, x.whole, y)


def make():
    return Model(), (Masked(torch.ones(2), torch.tensor([True, False])), torch.zeros(2))


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
