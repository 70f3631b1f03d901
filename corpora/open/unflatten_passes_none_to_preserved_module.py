# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten calls a preserved submodule with None for an argument that its result does not depend on"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.__init__: input_nodes.append(None)"
# ///
"""`child` counts its calls; its result is not used. Replaced by an eager one, it is called with None:
TypeError.

What the argument is computed from has been cleared away as dead code, as only the tracepoint of the call has
read it, so that nothing is left to pass. The call itself stays, because of the buffer.
"""

import sys
import warnings

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls.add_(1)
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child(x + 1)
        return x


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    unflattened = torch.export.unflatten(ep)
    unflattened.child = Child()
    try:
        seen = unflattened(*args)
    except TypeError as error:
        print(f"BUG: eager gives {model(*args)}, unflatten raises {str(error).splitlines()[0]}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
