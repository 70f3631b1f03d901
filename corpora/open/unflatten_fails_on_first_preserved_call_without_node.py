# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a preserved submodule whose first call computes nothing"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#         "unflatten.py:__init__",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: _get_attr"
# ///
"""For the first call there is a module without a graph, which holds the buffer: it is no InterpreterModule.

The cause is that of unflatten_fails_on_preserved_call_without_node: each signature is taken for a module
that was made of a call. With parameters or buffers something is found under that name, but it has no `_ty`.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.ones(1))

    def forward(self, x, flag):
        return x + self.offset if flag else x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x, False), True)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    kept = tuple(name for name, _ in model.named_modules() if name)
    try:
        ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=kept)
        seen = torch.export.unflatten(ep)(*args)
    except AttributeError as error:
        print(f"BUG: eager gives {model(*args)}, unflatten raises {error!r}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
