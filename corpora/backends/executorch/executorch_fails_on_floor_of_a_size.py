# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_executorch fails on math.floor of a dynamic size"
# id = "XE025"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "math.floor(size * factor), as models of images compute a new size"
# topics = ["dynamic-sizes"]
# cause = """
# ToOutVarPass leaves out functions of the modules builtins and _operator, and asks all others for the
# schema of an operator. math.floor has none. Only after that, the pass asks whether the target is an
# operator at all. It should ask first, and ExecuTorch should have math.floor in its table of operators on
# sizes, as it has math.ceil, math.trunc and round."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AttributeError", "pass_base.py:__call__"]]
# trigger = ["op.size|control.size_arithmetic"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/passes/__init__.py, ToOutVarPass: it asks a function of Python for a schema"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_executorch raises an AttributeError: "'builtin_function_or_method' object has no attribute '_schema'".

The model rounds a number down that it computes from a size. A pass takes math.floor for an operator of torch.
It should take it as it takes math.ceil.
"""

import math
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * math.floor(x.shape[0] / 3)


def make():
    return Model(), (torch.ones(4, 2),)


def show():
    from executorch.exir import to_edge

    model, args = make()
    sizes = {"x": {0: torch.export.Dim("n", min=2, max=64)}}
    exported = torch.export.export(model, args, dynamic_shapes=sizes)
    to_edge(exported).to_executorch()


def make_workaround():
    """Divide with //."""

    class Dividing(Model):
        def forward(self, x):
            return x * (x.shape[0] // 3)

    return Dividing(), (torch.ones(4, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        if "_schema" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_executorch raises {error!r:.100}")
    print("ok: neither eager nor to_executorch raises")
