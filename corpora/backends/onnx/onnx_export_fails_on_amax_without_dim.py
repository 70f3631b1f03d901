# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: x.amax(), x.amin() and x.aminmax() raise ValueError if dim is not given"
# id = "XO010"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "the largest or smallest number of a whole tensor, as a scale or a statistic"
# topics = ["quantization"]
# cause = """
# In torch, dim of amax and amin is an empty list by default: all dimensions. aten_amax and aten_amin demand
# it. They should have the same default."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "ValueError", "_building.py:eval_function"]]
# trigger = ["op.reduce|idiom.updated_twice"]
# upstream = "https://github.com/microsoft/onnxscript/pull/3035"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten_amax and aten_amin: dim has no default"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a ConversionError for `x.amax()`: "Required parameter 'dim' is not provided".

`aten_amax` and `aten_amin` demand `dim`. In torch it is optional: without it, they reduce all dimensions.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x / x.amax()


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    return model(*args), torch.onnx.export(torch.export.export(model, args), verbose=False)(*args)[0]


def make_workaround():
    """Call max, or name all dimensions."""

    class Naming(torch.nn.Module):
        def forward(self, x):
            return x / x.max()

    return Naming(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "Required parameter 'dim' is not provided" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
