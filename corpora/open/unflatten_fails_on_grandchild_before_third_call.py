# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails where a grandchild is called directly between calls of its parent's parent"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_sink_params",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.__init__: _modules are those of an earlier call"
# ///
"""Nobody reads the first call of `outer`; before the third, its grandchild is called by its other name.

The first call leaves no node, so that nothing is at `outer` when the direct call comes: _add_submodule makes
a module there, to hang `inner.same` under it. The third call takes that module for its own (created_modules),
and _ModuleFrame.__init__ replaces all of its children by those of the second call, which have no `inner`.
_sink_params looks for it: "Attribute 'inner' not found in model".
"""

import sys
import warnings

import torch
from torch import nn


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.ReLU()
        self.inner = nn.Module()
        self.inner.same = self.first

    def forward(self, x):
        return self.first(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        self.outer(x)
        x = self.outer(x)
        x = self.outer.inner.same(x + 1)
        return self.outer(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    try:
        seen = torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)
    except AssertionError as error:
        seen = f"AssertionError: {error}"
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten {seen}")
    sys.exit(bug)
