# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export asserts on a spec of dynamic shapes for what **options holds"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "non_strict_utils.py:make_constraints",
#         "non_strict_utils.py:_flatten_dynamic_shapes",
#         "dynamic_shapes.py:_tree_map_with_path",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _get_range_constraints: kwargs are put beside what binds them"
# ///
"""Dynamic sizes of a keyword that **options takes: Must provide a tree_name when there might be a mismatch.

The spec that is accepted at first, and that ShapesCollection writes, is {"options": {"scale": ...}}.
_get_range_constraints, which puts arguments into the order of the call, keeps "options" and adds "scale" as
an argument of its own: no spec is like that, and so every spec is refused.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, **options):
        return x + options["scale"]


def make():
    return Model(), (torch.ones(3),), {"scale": torch.ones(1)}


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "options": {"scale": None}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args, kwargs = make()
    try:
        torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes(), strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:100]}")
    sys.exit(bug)
