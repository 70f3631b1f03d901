# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a TypeError about 'SymbolicTensor', for tensor % x.shape[0]"
# id = "XO018"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "positions or hashes modulo a dynamic size: (positions + 1) % x.shape[0]"
# topics = ["dynamic-sizes"]
# cause = """
# aten_remainder_scalar makes a constant of the divisor. A dynamic size is a value of the graph, no number.
# It should cast such a value to the dtype of the tensor. aten_remainder_scalar_tensor should do so too."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "TypeError", "argument must be string bytes like object or"],
# ]
# trigger = ["dynamic.*", "op.size|control.size_arithmetic"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten_remainder_scalar: ir.tensor of a value"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a TypeError for the remainder of a tensor and a dynamic size.

`aten_remainder_scalar` calls `ir.tensor(other)`, but the size is a value of the ONNX graph, not a number.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, positions):
        return x[positions % x.shape[0]]


def make():
    return Model(), (torch.ones(4, 2), torch.tensor([3, 4, 5]))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "positions": None}


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


def make_workaround():
    """Compute the remainder with a division."""

    class Dividing(torch.nn.Module):
        def forward(self, x, positions):
            size = x.shape[0]
            return x[positions - positions // size * size]

    return Dividing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.onnx.errors.OnnxExporterError as error:
        if "not 'SymbolicTensor'" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
