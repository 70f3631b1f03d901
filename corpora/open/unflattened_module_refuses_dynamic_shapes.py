# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD283"
# title = "torch.export of an unflattened module: UserError for the dynamic_shapes of the original export"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a backend that unflattens a program and exports it again, with dynamic sizes"
# topics = ["dynamic-sizes"]
# cause = """
# `_combine_args` matches dynamic_shapes with the signature of forward, which is (*args, **kwargs) for every
# unflattened module. It should use the names of the original arguments."""
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
# upstream = "https://github.com/pytorch/pytorch/issues/171964"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/184966"
# at-fault = "torch/export/dynamic_shapes.py, _combine_args: reads the signature of forward"
# workaround = "none: export the result of ep.module() again instead"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model is exported with a dynamic size, unflattened, and exported again with the same dynamic_shapes:
UserError.

`_combine_args` matches dynamic_shapes with the signature of forward, which is (*args, **kwargs) for every
unflattened module. It should use the names of the original arguments.
"""

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


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    unflattened = torch.export.unflatten(program)
    expected = model(*args)
    return expected, torch.export.export(unflattened, args, dynamic_shapes=dynamic_shapes()).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        sys.exit(f"BUG: eager raises nothing, what was exported again raises {type(error).__name__}")
    print(f"ok: eager gives {expected}, what was exported again {got}")
