# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD389"
# title = "run_decompositions: IndexError if an input is a tensor subclass with several parts"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an exported model whose input is a tensor subclass, such as DTensor or a masked tensor"
# topics = ["arguments"]
# cause = """
# AOTAutograd takes a tensor subclass apart: the graph has one input for each of its parts.
# `_produce_aten_artifact` passes the inputs before that to `set_missing_meta_vals`, which reads one of them
# for each input of the graph. It should pass the parts."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "IndexError",
#         "_trace.py:_export_to_aten_ir",
#         "_trace.py:_produce_aten_artifact",
#         "_trace.py:set_missing_meta_vals",
#     ],
# ]
# trigger = ["idiom.subclass"]
# upstream = "https://github.com/pytorch/pytorch/issues/184229"
# upstream-match = "place"
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/_trace.py, _produce_aten_artifact: set_missing_meta_vals(gm, flat_fake_args, ...)"
# workaround = "none: the parts would have to be inputs of the model, which changes its signature"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The input is a tensor subclass that consists of two tensors. Export succeeds; run_decompositions raises
IndexError: list index out of range.

AOTAutograd takes a tensor subclass apart: the graph has one input for each of its parts.
`_produce_aten_artifact` passes the inputs before that to `set_missing_meta_vals`, which reads one of them for
each input of the graph. It should pass the parts.
"""

import sys

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only


class Two(torch.Tensor):
    @staticmethod
    def __new__(cls, first, second):
        return torch.Tensor._make_wrapper_subclass(cls, first.shape, dtype=first.dtype)

    def __init__(self, first, second):
        self.first, self.second = first, second

    def __tensor_flatten__(self):
        return ["first", "second"], None

    @staticmethod
    def __tensor_unflatten__(parts, meta, size, stride):
        return Two(parts["first"], parts["second"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        first = func(*tree_map_only(Two, lambda two: two.first, args), **(kwargs or {}))
        second = func(*tree_map_only(Two, lambda two: two.second, args), **(kwargs or {}))
        return return_and_correct_aliasing(func, args, kwargs or {}, Two(first, second))


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (Two(torch.ones(2), torch.zeros(2)),)


def show():
    model, args = make()
    torch.export.export(model, args).run_decompositions()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, run_decompositions raises {error!r:.100}")
    print("ok: neither eager nor run_decompositions raises")
