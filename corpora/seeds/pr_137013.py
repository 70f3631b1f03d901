# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "unflatten runs the first call's graph for every call of a submodule"
# upstream = "https://github.com/pytorch/pytorch/pull/137013"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "seed"
# affected = "torch<2.6"
# ///
"""One submodule, called twice, specialized on a Python bool: two calls, two graphs.

unflatten used to keep one graph per submodule. It either asserted that all calls agree or, past the
assertion, ran the graph of the first call twice: eager gives 16, unflatten gave 15.
"""

import sys
import warnings

import torch
from torch import nn


class N(nn.Module):
    def forward(self, x, b):
        if b:
            return x + 1
        return x + 2


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = N()

    def forward(self, x):
        x = self.n(x + 3, True)
        x = self.n(x + 4, False)
        return x + 5


def make():
    return M(), (torch.ones(1),)


def show():
    warnings.simplefilter("ignore")
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.200}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
