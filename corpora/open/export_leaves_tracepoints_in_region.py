# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Export leaves its own marks of a preserved submodule in a no_grad region"
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
#         "unflatten.py:remap_input",
#         "unflatten.py:read",
#         "unflatten.py:remap_input",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_export/passes/collect_tracepoints_pass.py, CollectTracepointsPass.call: return"
# ///
"""The exported program still calls the operator _export_tracepoint in the region, and unflatten fails on it.

CollectTracepointsPass walks through all graphs, but returns from inside the loop, after the first of them;
_rewrite_tracepoint_node in torch/export/_trace.py does not look into the others either.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        with torch.no_grad():
            y = self.child(x) + 1
        return x + y


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
