# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNX Runtime cannot load the file of a model with an Enum among its arguments"
# id = "XO005"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an Enum among the arguments of forward, which chooses a mode"
# topics = ["arguments"]
# cause = """
# torch.export makes an Enum an input of the kind CUSTOM_OBJ. _exported_program_to_onnx_program makes an
# initializer of every input that is no user input, and finds no tensor to fill this one. It should leave out
# inputs of the kind CUSTOM_OBJ."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "Fail"]]
# trigger = ["input.enum"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/onnx/_internal/exporter/_core.py, _exported_program_to_onnx_program: no value is set"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export writes a file that ONNX Runtime cannot load, because an argument of the model is an Enum.

The Enum becomes an initializer without a value. `_exported_program_to_onnx_program` should leave it out.
"""

import enum
import sys

import torch


class Mode(enum.Enum):
    DOUBLE = 1
    HALF = 2


class Model(torch.nn.Module):
    def forward(self, x, mode):
        return x * 2 if mode is Mode.DOUBLE else x / 2


def make():
    return Model(), (torch.ones(2), Mode.DOUBLE)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    program.initialize_inference_session()
    return model(*args), program(args[0])[0]


def make_workaround():
    """Give the model the Enum when it is made."""

    class Fixed(Model):
        def forward(self, x):
            return super().forward(x, Mode.DOUBLE)

    return Fixed(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "Missing:mode" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, ONNX Runtime raises {type(error).__name__}")
    print("ok: neither eager nor ONNX Runtime raises")
