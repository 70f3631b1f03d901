# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: 'int' object has no attribute 'dtype', for 7 // tensor of integers"
# id = "XO030"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a number divided by a tensor of integers, and rounded down: 512 // strides"
# topics = ["dtypes"]
# cause = """
# aten_floor_divide asks for the dtype of the dividend. If the dividend is a number, it has none. The function
# should make a tensor of it, with the dtype of the divisor."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AttributeError", "object has no attribute"]]
# trigger = ["op.map|op.int"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten_floor_divide: self.dtype of a number"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a ConversionError: "'int' object has no attribute 'dtype'".

`aten_floor_divide` takes the dividend for a tensor. Here it is a number.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return 7 // x


def make():
    return Model(), (torch.tensor([2, 3]),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Make a tensor of the number."""

    class WithTensor(torch.nn.Module):
        def forward(self, x):
            return torch.full_like(x, 7) // x

    return WithTensor(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.onnx.errors.OnnxExporterError as error:
        if "has no attribute 'dtype'" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
