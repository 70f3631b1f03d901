# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: copy_ of a smaller tensor gives the shape of the source, not of the target"
# id = "XO009"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "one row or number is copied into a larger tensor: total.copy_(x.mean(0))"
# topics = ["in-place"]
# cause = """
# aten_copy casts the source to the dtype of the target, and returns it. copy_ also broadcasts the source to
# the shape of the target. It should use the ONNX operator Expand, with the shape of the target."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "shape"],
#     ["outputs", "crash", "lower", "Fail"],
#     ["outputs", "crash", "run", "Fail"],
# ]
# trigger = ["inplace.broadcast"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten_copy: it does not expand the source"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The converted model returns one row in place of two: copy_ of a row into a larger tensor gives the row.

copy_ broadcasts its source to the shape of the target. `aten_copy` casts the dtype, and forgets the shape.
What follows is computed with the wrong shape: a sum over the rows, for example, is half as large.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        rows = torch.empty_like(x)
        rows.copy_(x.mean(0))
        return rows  # first difference


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Expand the source."""

    class Expanding(torch.nn.Module):
        def forward(self, x):
            rows = torch.empty_like(x)
            rows.copy_(x.mean(0).expand(x.shape))
            return rows

    return Expanding(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
