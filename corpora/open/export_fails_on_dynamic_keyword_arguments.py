# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Export fails on dynamic sizes of keyword arguments"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AssertionError", "non_strict_utils.py:make_constraints"]]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _get_range_constraints: combined_args_traced_order"
# ///
"""Export fails at an internal assertion where a dynamic size is that of one of `**options`.

The spec names the parameter, as export demands: {"options": {"scale": ...}}. _get_range_constraints then
sorts the arguments as they were traced and puts every keyword beside `options`, which has it already, so
that arguments and spec no longer are of one structure. With strict=True as well. What unflatten returns
takes `**kwargs`, and so cannot be exported again with dynamic sizes of keyword arguments.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, **options):
        return x * options["scale"]


def make():
    return Model(), (torch.ones(3),), {"scale": torch.ones(3)}


def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "options": {"scale": {0: n}}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args, kwargs = make()
    try:
        torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes(), strict=False)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("AssertionError")
    print(f"{'BUG' if bug else 'ok'}: export raises {seen}")
    sys.exit(bug)
