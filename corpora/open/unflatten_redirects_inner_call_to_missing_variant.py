# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten redirects a call in a submodule to a variant that is not there"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Node referenced nonexistent target"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _deduplicate_modules: seen_target = _compute_accessor(...)"
# ///
"""In `outer`, the second call of seq.0 is redirected to seq.0@1, which hangs under seq@1, not under seq.

As in unflatten_redirects_call_to_missing_variant.py, but the call that is redirected is in a submodule. The
graph of the root alone is checked, so that unflatten returns a module, and every call of it raises.
"""

import sys
import warnings

import torch
from torch import nn


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.ReLU())

    def forward(self, x):
        self.seq(x)
        x = self.seq(x + 1)
        return self.seq[0](x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = Outer()

    def forward(self, x):
        return self.outer(x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    try:
        seen = unflattened(*args)
    except RuntimeError as error:
        seen = str(error).splitlines()[0]
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)
