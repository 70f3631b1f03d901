# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export(optimize=False): a returned input is freed memory once the caller drops it"
# id = "XO012"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "optimize=False, and a model that returns an input; the optimizer adds an Identity"
# topics = ["containers"]
# cause = """
# ONNX Runtime gives the memory of an input as an output, and does not own it. ONNXProgram.__call__ returns a
# tensor in this memory, and nothing keeps the input alive. Where NumPy needs a copy of the input, as of one
# that is negated when it is read, the copy is freed at once. The call should copy such an output."""
# path = "onnx:plain@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "value"],
#     ["alive", "abort", "SIGSEGV"],
#     ["alive", "abort", "SIGABRT"],
# ]
# trigger = ["output.input"]
# runners = ["plain"]
# upstream = "https://github.com/microsoft/onnxruntime/pull/28088"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "torch/onnx/_internal/exporter/_onnx_program.py, ONNXProgram.__call__: keeps no input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The program returns freed memory: the model returns its input, and the caller does not keep the input.

ONNX Runtime does not copy an input that is also an output, and the tensor that ONNXProgram returns does not
keep the input alive. The first numbers are wrong; to write to the result can end the process.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x  # first difference


def make():
    return Model(), (torch.ones(3, 4),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False, optimize=False)
    got = program(args[0] * 2)[0]  # the argument is freed here
    return model(args[0] * 2), got.clone()


def make_workaround():
    """Return a copy of the input."""

    class Copying(torch.nn.Module):
        def forward(self, x):
            return x + 0

    return Copying(), (torch.ones(3, 4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
