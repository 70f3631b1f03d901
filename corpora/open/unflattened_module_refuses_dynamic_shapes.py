# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export of an unflattened module: UserError for the dynamic_shapes of the model"
# severity = "B"
# severity-because = "a backend that unflattens a program and exports it again, with dynamic sizes"
# cause = """
# _combine_args matches dynamic_shapes with the signature of forward, which is (*args, **kwargs) of every
# unflattened module."""
# path = "nonstrict+reexport_unflattened:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "UserError",
#         "dynamic_shapes.py:_compare",
#         "dynamic_shapes.py:_compare",
#         "dynamic_shapes.py:raise_mismatch_error",
#     ],
# ]
# fix = "shapes_of_unflattened_module_follow_its_names"
# affected = ["2.13.0"]
# upstream = "https://github.com/pytorch/pytorch/issues/171964"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/184966"
# at-fault = "torch/export/dynamic_shapes.py, _combine_args: reads the signature of forward"
# ///
"""A model is exported with a dynamic size, unflattened, and exported again in the same way: UserError."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return ({0: torch.export.Dim.DYNAMIC},)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    unflattened = torch.export.unflatten(program)
    try:
        seen = torch.export.export(unflattened, args, dynamic_shapes=dynamic_shapes()).module()(*args)
    except torch._dynamo.exc.UserError as error:
        seen = type(error).__name__
    bug = not torch.is_tensor(seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(*args)}, what was exported again {seen}")
    raise SystemExit(bug)
