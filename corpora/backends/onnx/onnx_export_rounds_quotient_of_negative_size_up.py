# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: floor division of a negative size, as in -(-n // 2), rounds toward 0"
# id = "XO027"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "the number of chunks, windows or patches of a dynamic size: -(-length // size)"
# topics = ["dynamic-sizes"]
# cause = """
# In Python, // rounds down. operator_floordiv makes the operator Div of it, which cuts off what follows the
# point: for -3 // 2, it gives -1 instead of -2. A comment there says that this is right for positive inputs
# only. The function should do what aten_floor_divide does for integers."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape"]]
# trigger = ["dynamic.*", "control.size_arithmetic"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, operator_floordiv: Div of a negative number"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The model keeps the first half, rounded up: two of three elements. The converted model keeps one.

`operator_floordiv` makes Div of `//`. Div rounds a negative quotient up, and `//` rounds it down.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[: -(-x.shape[0] // 2)]  # first difference


def make():
    return Model(), (torch.ones(3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


def make_workaround():
    """Round up with positive numbers."""

    class Positive(torch.nn.Module):
        def forward(self, x):
            parts = 2
            return x[: (x.shape[0] + parts - 1) // parts]

    return Positive(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
