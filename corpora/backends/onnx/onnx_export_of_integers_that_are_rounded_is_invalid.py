# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNX Runtime cannot load a model that calls round, floor or isnan with integers"
# id = "XO008"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "code for any dtype that rounds its input, or asks for nan; integers stay as they are"
# topics = ["dtypes"]
# cause = """
# torchlib makes the ONNX operators Round, Floor, Ceil, IsNaN and IsInf of those of torch. They take
# floating-point numbers alone, and torchlib does not look at the dtype. For integers, round, floor, ceil and
# trunc should give their input, and isnan and isfinite a constant."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "InvalidGraph", "This is an invalid Type Error Type of"],
# ]
# trigger = ["op.map|op.int|op.compare|inplace.round_|inplace.floor_"]
# upstream = "https://github.com/pytorch/pytorch/pull/107920"
# upstream-match = "symptom"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten_round and others: they ignore the dtype"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The converted model cannot be loaded, because it rounds integers. In eager, integers stay as they are.

The ONNX operator Round takes floating-point numbers alone. `aten_round` should return an integer tensor as it
is. The same holds for floor, ceil and trunc; isnan and isfinite should return a constant.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.round()


def make():
    return Model(), (torch.arange(3),)


def show():
    model, args = make()
    return model(*args), torch.onnx.export(torch.export.export(model, args), verbose=False)(*args)[0]


def make_workaround():
    """Round floating-point numbers alone."""

    class Asking(torch.nn.Module):
        def forward(self, x):
            return x.round() if x.is_floating_point() else x + 0

    return Asking(), (torch.arange(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "of operator (Round)" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, ONNX Runtime raises {type(error).__name__}")
    print("ok: neither eager nor ONNX Runtime raises")
