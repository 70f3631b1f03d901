# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a buffer with the name of an operator, such as arange, makes an invalid file"
# id = "XO007"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a buffer called mean in a model with a norm or a loss; or arange, next to torch.arange"
# topics = ["names"]
# cause = """
# _exported_program_to_onnx_program gives inputs of the graph, such as b_arange, the name of their buffer. It
# does not ask whether a value has this name already, and results have the names of their operators. It
# should rename the other value. The optimizer renames such values too, but folds constants first."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "ValueError", "Initializer is already registered but it is not"],
#     ["outputs", "crash", "lower", "Fail", "This is an invalid Error Duplicate definition of"],
# ]
# trigger = ["state.buffer|state.parameter|state.constant|state.scratch"]
# upstream = "https://github.com/pytorch/pytorch/issues/168211"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "torch/onnx/_internal/exporter/_core.py, _exported_program_to_onnx_program: names are not unique"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises an error, because a buffer has the name of an operator that the model runs.

Two values of the ONNX graph have the name `arange`: the buffer, and the result of `torch.arange`. With
`optimize=False`, export raises nothing, and ONNX Runtime refuses the file: "Duplicate definition of name".
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("arange", torch.tensor([1.0, 2.0, 4.0]))

    def forward(self, x):
        return x * self.arange + torch.arange(3)


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    return model(*args), torch.onnx.export(torch.export.export(model, args), verbose=False)(*args)[0]


def make_workaround():
    """Give the buffer another name."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("factors", torch.tensor([1.0, 2.0, 4.0]))

        def forward(self, x):
            return x * self.factors + torch.arange(3)

    return Renamed(), (torch.ones(3),)


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
