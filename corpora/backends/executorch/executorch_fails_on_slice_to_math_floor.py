# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_executorch fails if a dynamic size goes through math.floor or math.ceil"
# id = "XE024"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model with dynamic sizes that computes a length with math.floor"
# topics = ["dynamic-sizes"]
# cause = """
# torch.export records math.floor of a size as a call of the Python function. ToOutVarPass in to_executorch
# skips functions of the modules builtins and _operator, and reads _schema of any other. The pass should also
# skip functions of the module math."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AttributeError", "pass_base.py:__call__"]]
# trigger = ["control.size_arithmetic"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/passes/__init__.py, ToOutVarPass.call: it skips no function of math"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_executorch fails: 'builtin_function_or_method' object has no attribute '_schema'. It means math.floor.

The model cuts its input to half of a dynamic size. A pass takes math.floor for an operator of torch.
"""

import math
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[: math.floor(x.shape[0] / 2)] + 1  # first difference


def make():
    return Model(), (torch.ones(4),)


def show(made=None):
    from executorch.exir import to_edge

    model, args = made or make()
    rows = torch.export.Dim.DYNAMIC(max=64)
    to_edge(torch.export.export(model, args, dynamic_shapes=({0: rows},))).to_executorch()


def make_workaround():
    """Divide with //."""

    class Divided(torch.nn.Module):
        def forward(self, x):
            return x[: x.shape[0] // 2] + 1

    return Divided(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    error = None
    try:
        show()
    except AttributeError as raised:
        if "_schema" not in str(raised):
            raise
        error = raised
    print(f"BUG: to_executorch fails: {error}" if error else "ok: to_executorch works")
    raise SystemExit(error is not None)
