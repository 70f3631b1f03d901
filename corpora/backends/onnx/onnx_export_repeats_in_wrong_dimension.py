# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: x.repeat_interleave(x.shape[0], 0) repeats nothing"
# id = "XO024"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "all pairs of rows, as in a pairwise loss or a relation network with a dynamic batch"
# topics = ["dynamic-sizes"]
# cause = """
# aten_repeat_interleave_self_int adds a dimension behind dim and expands it. If the number of repeats is a
# dynamic size, the shape for Expand has the number one place too early: in dim itself. If dim has as many
# elements as the number, nothing is repeated; for any other size, ONNX Runtime raises an error. The function
# should put one more 1 before the number, and one less behind it."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "shape"],
#     ["outputs", "crash", "run", "InvalidArgument", "Non zero status code returned while running Expand"],
# ]
# trigger = ["dynamic.*", "op.shape"]
# upstream = "https://github.com/microsoft/onnxscript/pull/2548"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxscript/function_libs/torch_lib/ops/core.py, aten_repeat_interleave_self_int: [1] * pos_dim, if repeats
# is a value of the graph"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The model repeats each row as often as there are rows. The converted model repeats nothing.

`aten_repeat_interleave_self_int` expands the wrong dimension if the number of repeats is a dynamic size.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.repeat_interleave(x.shape[0], 0)  # first difference


def make():
    return Model(), (torch.arange(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


def make_workaround():
    """Add a dimension, expand it, and make one dimension of both."""

    class Expanding(torch.nn.Module):
        def forward(self, x):
            return x.unsqueeze(1).expand(-1, x.shape[0]).flatten()

    return Expanding(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
