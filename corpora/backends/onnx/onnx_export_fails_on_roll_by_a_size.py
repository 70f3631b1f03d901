# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a TypeError about an 'attribute type', for x.roll(x.shape[0] // 2, 0)"
# id = "XO025"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "torch.fft.fftshift of a dynamic size becomes such a roll"
# topics = ["dynamic-sizes"]
# cause = """
# The helpers of aten_roll give a list that contains the shift to the operator Constant. If the shift is a
# dynamic size, it is a value of the graph, no number, and onnxscript does not know what to make of the list.
# They should reshape such a value to one element."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "Unsupported attribute type list"]]
# trigger = ["dynamic.*", "op.shape"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxscript/function_libs/torch_lib/ops/core.py, _aten_roll_shift_and_dim_onnx and
# _aten_roll_shift_no_dim_onnx: a Constant of [shift]"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a TypeError if the model rolls a tensor by a dynamic number of places.

The error is "Unsupported attribute type: '<class 'list'>'", because the shift is a value of the ONNX graph.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.roll(x.shape[0] // 2, 0)


def make():
    return Model(), (torch.arange(4.0),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


def make_workaround():
    """Cut the tensor in two, and join the parts in the other order."""

    class Joining(torch.nn.Module):
        def forward(self, x):
            first = x.shape[0] - x.shape[0] // 2
            return torch.cat([x[first:], x[:first]])

    return Joining(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.onnx.errors.OnnxExporterError as error:
        if "Unsupported attribute type" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
