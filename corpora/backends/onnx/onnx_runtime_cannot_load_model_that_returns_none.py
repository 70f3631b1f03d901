# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNX Runtime cannot load a model that returns None"
# id = "XO023"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a model that only updates its buffers or its input, and returns nothing"
# topics = ["containers"]
# cause = """
# The graph has no output. So the conversion removes all operators, and writes an empty graph without a
# warning. While ONNX Runtime loads it, SaveInitializedTensors demands that the graph has at least one value.
# torch.onnx.export should say that the model returns no tensor, or ONNX Runtime should load this graph."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "Fail",
#     "Exception during initialization onnxruntime core framework onnxruntime common"],
# ]
# trigger = ["output.no_tensor"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxruntime/core/framework/session_state_utils.cc, SaveInitializedTensors: it refuses a graph without
# values; torch.onnx.export makes such a graph without a warning"""
# workaround = "none: the model must return a tensor"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The model adds to its input and returns None. ONNX Runtime cannot load the converted model.

The error is "OrtValue indexes should have been populated". It says nothing about the missing result.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.add_(1)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "OrtValue indexes should have been populated" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, ONNX Runtime raises {type(error).__name__}")
    print("ok: neither eager nor ONNX Runtime raises")
