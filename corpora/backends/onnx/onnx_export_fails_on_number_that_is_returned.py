# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: 'int' object has no attribute 'name' if the model returns a number or a string"
# id = "XO004"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that returns a number or a string next to its tensors, such as a length"
# topics = ["containers"]
# cause = """
# _handle_output_node reads the name of each result of the graph, and leaves out None alone. A Python number
# or string is no node and has no name. It should leave it out as well, or make a constant of it."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "AttributeError", "_core.py:_translate_fx_graph",
#     "_core.py:_handle_output_node"],
# ]
# trigger = ["output.number|output.text|output.size|idiom.text_of_sizes|idiom.shape_result|idiom.registered"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/onnx/_internal/exporter/_core.py, _handle_output_node: it reads the name of a number"
# workaround = "none: return tensors alone, and compute the number outside of the model"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a ConversionError: "'int' object has no attribute 'name'".

The model returns a Python number. `_handle_output_node` reads the name of each result, and leaves out None
alone. It should leave a number out as well, or make a constant of it. The same holds for a string.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, x.dim()


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args)[0], torch.onnx.export(torch.export.export(model, args), verbose=False)(*args)[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.onnx.errors.OnnxExporterError as error:
        if "has no attribute 'name'" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
