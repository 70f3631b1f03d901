# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: AssertionError for a model with **options if another input has a dynamic size"
# variant-of = "export_fails_on_dynamic_keyword_arguments"
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
# fix = "order_further_keywords_as_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/150022"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185736"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _get_range_constraints: kwargs are put next to what binds them"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""`**options` collects a keyword, and x has a dynamic size. Export raises AssertionError.

dynamic_shapes names the parameter, as export demands: {"options": {"scale": None}}. `_get_range_constraints`
puts each keyword next to `options`, where it is already, so that arguments and dynamic_shapes no longer have
the same structure.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, **options):
        return x + options["scale"]


def make():
    return Model(), (torch.ones(2),), {"scale": torch.ones(1)}


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "options": {"scale": None}}


def show():
    model, args, kwargs = make()
    torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "when there might be a mismatch" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
