# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a TypeError about 'SymbolicTensor', for integers times x.shape[0] / 2"
# id = "XO026"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "positions that are scaled to a dynamic size: torch.arange(8) * (x.shape[0] / 8)"
# topics = ["dynamic-sizes"]
# cause = """
# aten_mul_scalar makes a constant of the factor. A number that is computed from a dynamic size is a value of
# the graph, no number. It should cast such a value. aten_pow_tensor_scalar should do so as well, for
# x ** x.shape[0]. XO018 is the same mistake in the remainder."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "TypeError", "argument must be string or real number not"],
# ]
# trigger = ["dynamic.*", "op.size|control.size_arithmetic"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxscript/function_libs/torch_lib/ops/core.py, aten_mul_scalar and aten_pow_tensor_scalar: ir.tensor of a
# value"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a TypeError for a tensor of integers times a part of a dynamic size.

`aten_mul_scalar` calls `ir.tensor(other)`, but the factor is a value of the ONNX graph, not a number.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, positions):
        return x[(positions * (x.shape[0] / 2)).long()]


def make():
    return Model(), (torch.arange(4.0), torch.tensor([0, 1]))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "positions": None}


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


def make_workaround():
    """Convert the integers to floats first."""

    class Converting(torch.nn.Module):
        def forward(self, x, positions):
            return x[(positions.float() * (x.shape[0] / 2)).long()]

    return Converting(), make()[1]


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
