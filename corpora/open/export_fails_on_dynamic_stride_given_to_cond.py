# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD098"
# title = "torch.export: \"unhashable SymInt\" if torch.cond gets x[:, 0] and x has dynamically many columns"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a column of a matrix with a dynamic number of columns, given to torch.cond"
# topics = ["control-flow", "dynamic-sizes"]
# cause = """
# Dynamo traces the branches. `_automatic_dynamic` treats a tensor as dynamic if one of its sizes is symbolic,
# and does not ask for strides. It looks each stride up in a dict, and a SymInt cannot be hashed."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "InternalTorchDynamoError",
#         "builder.py:_automatic_dynamic",
#         "builder.py:record_automatic_dynamic",
#         "__init__.py:__hash__",
#     ],
# ]
# fix = "dynamic_stride_alone"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/builder.py, _automatic_dynamic: looks for SymInts in the sizes only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x[:, 0]` has two elements, and a dynamic stride. Passed to torch.cond, it makes export fail.

Dynamo traces the branches. `_automatic_dynamic` treats a tensor as dynamic if one of its sizes is symbolic,
and does not ask for strides. It looks each stride up in a dict, and a SymInt cannot be hashed.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x[:, 0],))


def make():
    return Model(), (torch.ones(2, 3),)


def dynamic_shapes():
    return {"x": {1: torch.export.Dim("n")}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Copy the column."""

    class Copying(Model):
        def forward(self, x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x[:, 0].clone(),))

    return Copying(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.InternalTorchDynamoError as error:
        sys.exit(f"BUG: eager raises nothing, export {error!r:.100}")
    print("ok: neither eager nor export raises")
