# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A preserved submodule is given what its forward pre-hook made, and so runs the hook twice"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# affected = "2.13.0"
# at-fault = "torch/_export/wrappers.py, _wrap_submodule: register_forward_pre_hook without prepend"
# ///
"""With its signature preserved, `child` is replaced by an eager one: 5 instead of 3, in silence.

The hook that notes the arguments is registered after those of the module, and so runs after them: what it
notes is not what the module is called with. What the hooks compute ends up in the parent.
"""

import sys
import warnings

import torch
from torch import nn


def double(module, args):
    return (args[0] * 2,)


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_pre_hook(double)

    def forward(self, x):
        return x + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    unflattened = torch.export.unflatten(ep)
    unflattened.child = Child()
    expected, seen = model(*args), unflattened(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten with its child replaced {seen}")
    sys.exit(bug)
