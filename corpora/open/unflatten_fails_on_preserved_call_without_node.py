# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a preserved submodule whose call computes nothing"
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
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: _get_attr"
# ///
"""nn.Identity leaves no node in the graph, but a signature: unflatten looks for its module, and there is
none.

nn.Dropout in eval mode is such a module as well, and so are one whose result is never used, and one that is
called by another of its names.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Identity()

    def forward(self, x):
        return self.child(x) + 1


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
