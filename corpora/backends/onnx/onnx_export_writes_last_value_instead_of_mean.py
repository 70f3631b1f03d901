# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: scatter_reduce with 'mean' gives the last value of each place, not the mean"
# id = "XO028"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "means of groups: the neighbours of a node in a graph network, the points of a voxel"
# topics = ["indexing"]
# cause = """
# ScatterElements of ONNX has no reduction for the mean. aten_scatter_reduce takes 'none' instead, so each
# value replaces the one before it. It should divide a sum by the number of values, or refuse the model."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["inplace.scatter"]
# upstream = "https://github.com/onnx/onnx/issues/5100"
# upstream-match = "symptom"
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxscript/function_libs/torch_lib/ops/core.py, aten_scatter_reduce: reduce_mode has 'none' for 'mean'"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The model takes the mean of 1 and 3, which is 2. The converted model returns 3, the last of them.

`aten_scatter_reduce` makes ScatterElements without a reduction, because ONNX has none for the mean.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, groups):
        means = torch.zeros(2)
        return means.scatter_reduce(0, groups, x, "mean", include_self=False)  # first difference


def make():
    return Model(), (torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0, 0, 1]))


def wrong_call(operator, args, kwargs):
    """It computes means."""
    return operator in ("aten.scatter_reduce.two", "aten.scatter_reduce_.two") and args[4] == "mean"


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Divide the sum by the number of values."""

    class Dividing(torch.nn.Module):
        def forward(self, x, groups):
            sums = torch.zeros(2).scatter_add(0, groups, x)
            return sums / torch.zeros(2).scatter_add(0, groups, torch.ones_like(x)).clamp(min=1)

    return Dividing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
