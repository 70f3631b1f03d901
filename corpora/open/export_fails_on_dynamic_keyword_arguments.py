# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD097"
# title = "torch.export: AssertionError for a dynamic size of an argument that **kwargs collects"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "dynamic sizes of keywords that **kwargs takes"
# topics = ["dynamic-sizes", "arguments"]
# cause = """
# dynamic_shapes names the parameter, as export demands: {"options": {"scale": ...}}. `_get_range_constraints`
# puts each keyword next to `options`, where it is already, so that arguments and dynamic_shapes no longer
# have the same structure."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AssertionError", "non_strict_utils.py:make_constraints"]]
# fix = "order_further_keywords_as_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/150022"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185736"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _get_range_constraints: combined_args_traced_order"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""An argument that `**options` collects has a dynamic size. Export raises AssertionError.

dynamic_shapes names the parameter, as export demands: {"options": {"scale": ...}}. `_get_range_constraints`
puts each keyword next to `options`, where it is already, so that arguments and dynamic_shapes no longer have
the same structure.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, **options):
        return options["scale"] + 1


def make():
    return Model(), (), {"scale": torch.ones(2)}


def dynamic_shapes():
    return {"options": {"scale": {0: torch.export.Dim("n")}}}


def show():
    model, args, kwargs = make()
    torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Name the keyword in the signature of forward, and in dynamic_shapes."""

    class Naming(Model):
        def forward(self, scale):
            return scale + 1

    return Naming(), (), {"scale": torch.ones(2)}


def workaround_options():
    return {"dynamic_shapes": {"scale": {0: torch.export.Dim("n")}}}


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
