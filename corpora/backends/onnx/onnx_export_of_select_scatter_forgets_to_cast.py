# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNX Runtime cannot load select_scatter of an integer or bool row into floats"
# id = "XO022"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "labels or a mask that become one column of a table of floats, such as detected boxes"
# topics = ["indexing", "dtypes"]
# cause = """
# In torch, select_scatter and slice_scatter cast what they write to the dtype of the tensor.
# aten_select_scatter gives both tensors to ScatterElements as they are, and aten_slice_scatter to ScatterND.
# ONNX demands one type for both. The functions should cast with CastLike."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "Fail", "Type Error Type parameter of Optype ScatterElements bound"],
#     ["outputs", "crash", "lower", "Fail", "Type Error Type parameter of Optype ScatterND bound"],
# ]
# trigger = ["op.index"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxscript/function_libs/torch_lib/ops/core.py, aten_select_scatter and aten_slice_scatter: no CastLike"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The model writes integer labels into a column of floats. ONNX Runtime cannot load the converted model.

`select_scatter` casts the labels. The converter forgets that, and ONNX does not allow two types here.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, boxes, labels):
        return boxes.select_scatter(labels, 1, 4)


def make():
    return Model(), (torch.ones(2, 5), torch.tensor([3, 7]))


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Cast first."""

    class Casting(torch.nn.Module):
        def forward(self, boxes, labels):
            return boxes.select_scatter(labels.to(boxes.dtype), 1, 4)

    return Casting(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "bound to different types" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, ONNX Runtime raises {type(error).__name__}")
    print("ok: neither eager nor ONNX Runtime raises")
