# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: an input that the model also returns is renamed to x_orig in the ONNX file"
# id = "XO003"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a model that returns one of its inputs, such as a mask, if inputs are passed by name"
# topics = ["containers"]
# cause = """
# A graph input must not be a graph output, so a pass of the optimizer adds an Identity node. It gives the
# output the name of the input, and renames the input. It should keep the name of the input, because callers
# use it."""
# path = "onnx:external@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "ValueError", "Required inputs are missing from input feed"],
# ]
# trigger = ["output.input|inplace.copy_"]
# runners = ["external"]
# upstream = "https://github.com/pytorch/pytorch/issues/173076"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "onnx_ir/passes/common/output_fix.py, _alias_direct_outputs: it renames the input"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""An input that the model returns is called `x_orig` in the ONNX file: ONNX Runtime refuses `{"x": ...}`.

`torch.onnx.export` documents that inputs have the names of the arguments of forward. A pass of the optimizer
renames the input in place of the output.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2, x


def make():
    return Model(), (torch.ones(2),)


def show():
    import onnxruntime

    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    session = onnxruntime.InferenceSession(program.model_proto.SerializeToString())
    return model(*args)[0], torch.from_numpy(session.run(None, {"x": args[0].numpy()})[0])


def make_workaround():
    """Return a copy of the input."""

    class Copying(torch.nn.Module):
        def forward(self, x):
            return x * 2, x + 0

    return Copying(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        if "Required inputs" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, ONNX Runtime raises {error!r:.100}")
    print("ok: neither eager nor ONNX Runtime raises")
