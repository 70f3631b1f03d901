# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD240"
# title = "unflatten: RuntimeError for a plain tensor attribute of a preserved module that has two names"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a shared, preserved module whose users read a tensor attribute of it"
# topics = ["constants", "shared-modules"]
# cause = """
# The calls of the layer are collected in a dispatcher, one for each name. `_dispatch_modules` gives it the
# tensors by the names of the program, which has only one name for each. So one of the dispatchers has no
# `scale`."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Node referenced nonexistent target"]]
# fix = "dispatcher_has_constants_of_aliased_module"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: attrs_map has one name each"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer has two names, and its parent reads its attribute `scale`. With preserved calls, the unflattened
model raises RuntimeError.

The calls of the layer are collected in a dispatcher, one for each name. `_dispatch_modules` gives it the
tensors by the names of the program, which has only one name for each. So one of the dispatchers has no
`scale`.
"""

import sys

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.full((3,), 2.0)

    def forward(self, x):
        return x + self.scale


class Block(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(self.layer(x)) * self.layer.scale


def make():
    layer = Layer()
    return nn.Sequential(layer, Block(layer)), (torch.ones(3),)


def show():
    model, args = make()
    names = ("0", "1", "1.layer")
    program = torch.export.export(model, args, preserve_module_call_signature=names)
    unflattened = torch.export.unflatten(program)
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "nonexistent target" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the unflattened model raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the unflattened model {got}")
