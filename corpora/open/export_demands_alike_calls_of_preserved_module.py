# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Export fails on a preserved submodule whose calls are written differently"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "_symbolic_trace.py:forward",
#         "wrappers.py:post_hook",
#         "wrappers.py:update_module_call_signatures",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_export/wrappers.py, update_module_call_signatures"
# ///
"""One call passes `n` by name, the other does not pass it: AssertionError, in_spec mismatch.

Each call gets a signature of its own later on (`child`, `child@1`), and a graph of its own. But while
tracing, in_spec and out_spec are kept by the name of the submodule, as of a time when there was one call
only.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x, n=1):
        return x + n


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(self.child(x), n=2)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    kept = tuple(name for name, _ in model.named_modules() if name)
    try:
        ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=kept)
        seen = torch.export.unflatten(ep)(*args)
    except AssertionError as error:
        print(f"BUG: eager gives {model(*args)}, export raises {error!r}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
