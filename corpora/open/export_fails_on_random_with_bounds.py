# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD110"
# title = "torch.export: SyntaxError for a forward that calls random_ with two bounds"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that draws random integers with Tensor.random_"
# topics = ["random", "in-place"]
# cause = """
# The overload of random_ with two bounds is called `from`, a keyword of Python. FX writes
# `torch.ops.aten.random_.from(...)` into its code, which does not compile. It should use getattr."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "SyntaxError"]]
# fix = "fx_calls_overloads_named_as_keywords"
# upstream = "https://github.com/pytorch/pytorch/issues/151432"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185456"
# at-fault = "torch/fx/graph.py, _gen_python_code, add_global: a qualified name that does not compile"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`torch.zeros(1).random_(0, 2)` makes export raise SyntaxError.

The overload of random_ with two bounds is called `from`, a keyword of Python. FX writes
`torch.ops.aten.random_.from(...)` into its code, which does not compile. It should use getattr.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + torch.zeros(1).random_(0, 2)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Draw with torch.randint."""

    class Drawing(Model):
        def forward(self, x):
            return x + torch.randint(0, 2, (1,), dtype=x.dtype)

    return Drawing(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SyntaxError as error:
        sys.exit(f"BUG: torch.export.export raises {error!r:.100}")
    print("ok: torch.export.export raises nothing")
