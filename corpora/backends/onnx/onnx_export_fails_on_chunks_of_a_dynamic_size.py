# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: 'NoneType' object has no attribute 'ndim', for x.chunk(2) of a dynamic size"
# id = "XO033"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a batch of two halves, such as the guided and unguided samples of a diffusion model"
# topics = ["dynamic-sizes"]
# cause = """
# The graph computes the size of the chunks. So split_to_sequence of the optimizer knows its shape, which
# is empty, but not its value. It looks at the value then. It should return None if there is no value."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AttributeError", "object has no attribute"]]
# trigger = ["dynamic.*", "op.view"]
# runners = ["program", "file", "external"]
# upstream = "https://github.com/microsoft/onnxscript/pull/2544"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/optimizer/_constant_folding.py, split_to_sequence: split_value.ndim of None"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a PassError if the model cuts a dimension of a dynamic size into chunks.

The optimizer knows the shape of the size of the chunks, but not its value, and reads the value: "'NoneType'
object has no attribute 'ndim'".
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        first, second = x.chunk(2)
        return first - second


def make():
    return Model(), (torch.arange(4.0),)


def dynamic_shapes():
    size = torch.export.Dim("size", min=1)
    return {"x": {0: 2 * size}}


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


def make_workaround():
    """Cut into two parts with slices."""

    class Slicing(torch.nn.Module):
        def forward(self, x):
            half = (x.shape[0] + 1) // 2
            return x[:half] - x[half:]

    return Slicing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "onnx_ir.passes" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
