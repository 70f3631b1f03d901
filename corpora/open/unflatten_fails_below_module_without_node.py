# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a preserved submodule of a module in which nothing is computed"
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: _get_attr"
# ///
"""`outer` is made for no node, so that there is nothing to look for `outer.child` in: AssertionError.

The cause is that of unflatten_fails_on_preserved_call_without_node.
"""

import sys
import warnings

import torch
from torch import nn


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Identity()

    def forward(self, x):
        return self.child(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(x) + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    kept = ("outer.child",)
    try:
        ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=kept)
        seen = torch.export.unflatten(ep)(*args)
    except AssertionError as error:
        print(f"BUG: eager gives {model(*args)}, unflatten raises {error!r}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
