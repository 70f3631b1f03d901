# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export of an unflattened module: AssertionError for a keyword argument of dynamic size"
# variant-of = "export_fails_on_dynamic_keyword_arguments"
# path = "nonstrict+reexport_unflattened:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AssertionError", "non_strict_utils.py:make_constraints"]]
# fix = "order_further_keywords_as_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/150022"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185736"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _get_range_constraints: combined_args_traced_order"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""A model is exported and unflattened. The second export raises AssertionError if a keyword argument has a
dynamic size.

forward of an unflattened module takes **kwargs. `_get_range_constraints` puts each keyword next to `kwargs`,
where it is already, so that arguments and dynamic_shapes no longer have the same structure.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, scale):
        return x * scale


def make():
    return Model(), (torch.ones(3),), {"scale": torch.ones(3)}


def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "scale": {0: n}}


def show():
    model, args, kwargs = make()
    shapes = dynamic_shapes()
    ep = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=False)
    shapes = {"args": (shapes["x"],), "kwargs": {"scale": shapes["scale"]}}
    torch.export.export(torch.export.unflatten(ep), args, kwargs, dynamic_shapes=shapes, strict=False)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: exporting the model raises nothing, exporting it unflattened {error!r:.100}")
    print("ok: exporting the model raises nothing, exporting it unflattened nothing")
