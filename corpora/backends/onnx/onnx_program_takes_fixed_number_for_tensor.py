# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNXProgram passes a Python number to the input of the next tensor"
# id = "XO002"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a Python number before a tensor among the arguments of forward"
# topics = ["arguments"]
# cause = """
# The graph has no input for a Python number, because export fixes it. ONNXProgram.__call__ leaves out
# arguments that are None, and no other Python value, so each later tensor gets the argument before it. It
# should leave out all arguments that are not inputs of the graph."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "InvalidArgument"],
#     ["outputs", "crash", "run", "RuntimeError"],
#     ["outputs", "mismatch", "value"],
# ]
# trigger = ["input.value|input.bool_flag|input.number|input.float|input.string|input.enum|input.size"]
# runners = ["program", "plain"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/onnx/_internal/exporter/_onnx_program.py, _process_args: it removes None alone"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The ONNXProgram that torch.onnx.export returns passes a Python number to the input of the next tensor.

Its documentation says: "Run the ONNX model with the same arguments you would provide to the GraphModule". The
number is no input of the graph, and the program does not leave it out. If the shapes differ, ONNX Runtime
raises an error; here they agree, and the result is wrong. For a string, the error is "Creation of OrtValues
is currently only supported from non-string numpy arrays".
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, factor: float, offset):
        return x * factor + offset


def make():
    return Model(), (torch.ones(2), 2.0, torch.tensor(5.0))


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Give the model the number when it is made."""

    class Fixed(torch.nn.Module):
        factor = 2.0

        def forward(self, x, offset):
            return x * self.factor + offset

    return Fixed(), (torch.ones(2), torch.tensor(5.0))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the ONNX program {got}")
    raise SystemExit(bug)
