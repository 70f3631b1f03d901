# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD240"
# title = "unflatten: RuntimeError if a block reads a tensor attribute of a shared, preserved layer"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a layer under two names, called twice under one, whose plain tensor its parent reads"
# topics = ["constants", "shared-modules"]
# cause = """
# unflatten puts the two calls of `1.layer` into a dispatcher. `_dispatch_modules` gives a dispatcher the
# tensors that the signature of the program names, and this names each tensor once: here `0.scale`. So the
# dispatcher has no `scale`. It should get all tensors of its first call."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Node referenced nonexistent target"]]
# fix = "dispatcher_has_constants_of_aliased_module"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: attrs_map has one name of each"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer is used alone and in a block, which calls it twice and reads its tensor `scale`. With the layer of
the block preserved, the unflattened model raises RuntimeError.

unflatten puts the two calls of `1.layer` into a dispatcher. `_dispatch_modules` gives a dispatcher the
tensors that the signature of the program names, and this names each tensor once: here `0.scale`. So the
dispatcher has no `scale`. It should get all tensors of its first call.
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
    program = torch.export.export(model, args, preserve_module_call_signature=("1.layer",))
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
