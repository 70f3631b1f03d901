# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "two modules read a global tensor, next to a parameter with the name that export gives literals"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "seed"
# ///
"""A child reads a global tensor first, then its parent does, which has a parameter called `lifted_tensor_0`.

Export calls the tensor `child.lifted_tensor_0`. Whatever gives it a name in the parent as well must not take
the name of the parameter.
"""

import sys

import torch

TABLE = torch.tensor(2.0)


class Child(torch.nn.Module):
    def forward(self, x):
        return x * TABLE


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.lifted_tensor_0 = torch.nn.Parameter(torch.tensor(5.0))

    def forward(self, x):
        return self.child(x) + self.lifted_tensor_0 * TABLE


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
