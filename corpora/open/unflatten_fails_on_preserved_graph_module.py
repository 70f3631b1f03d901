# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails after a preserved submodule that is a GraphModule"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "ValueError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_fix_nn_module_stacks",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_export/passes/collect_tracepoints_pass.py, CollectTracepointsPass.call: popitem"
# ///
"""A torch.fx.GraphModule is traced through without a trace in nn_module_stack; its call is preserved all the
same.

The pass takes the last entry off the stacks of nodes that follow a preserved call and claim to be part of
it. Here that is the entry of the root, on which unflatten relies: "not enough values to unpack".
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        return x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.fx.symbolic_trace(Child())

    def forward(self, x):
        return self.child(x) * 2


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    kept = tuple(name for name, _ in model.named_modules() if name)
    try:
        ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=kept)
        seen = torch.export.unflatten(ep)(*args)
    except ValueError as error:
        print(f"BUG: eager gives {model(*args)}, unflatten raises {error!r}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
