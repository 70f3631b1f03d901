# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a preserved submodule that returns its own parameter"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "unflatten.py:finalize_outputs",
#         "unflatten.py:<genexpr>",
#         "unflatten.py:get_actual_output_node",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.finalize_outputs: get_actual_output_node"
# ///
"""`child` returns its weight along with a result: RuntimeError, "Could not find output node p_child_weight".

The parameter is an input of the exported graph. A module's graph has a placeholder for such an input once
one of its nodes reads it; the signature alone does not make one.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x + 1, self.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        y, weight = self.child(x)
        return y * weight


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    kept = tuple(name for name, _ in model.named_modules() if name)
    try:
        ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=kept)
        seen = torch.export.unflatten(ep)(*args)
    except RuntimeError as error:
        print(f"BUG: eager gives {model(*args)}, unflatten raises {str(error).splitlines()[0]}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
