# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: avg_pool2d and avg_pool3d ignore divisor_override"
# id = "XO041"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "sums over windows, written as an average with the divisor 1"
# topics = ["arguments"]
# cause = """
# aten_avg_pool2d and aten_avg_pool3d take divisor_override and do not use it; a TODO in them says so. They
# should multiply the result by the size of the window and divide it by the divisor, or refuse the model, as
# the older exporter did."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.pool"]
# upstream = "https://github.com/pytorch/pytorch/issues/105349"
# upstream-match = "symptom"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/nn.py, aten_avg_pool2d: an argument is ignored"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The sum of a window is 8. The converted model returns 2, the average.

`aten_avg_pool2d` does not use its argument `divisor_override`.
"""

import sys

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x):
        return F.avg_pool2d(x, 2, divisor_override=1)  # first difference


def make():
    return Model(), (torch.tensor([[[[0.0, 1.0], [3.0, 4.0]]]]),)


def wrong_call(operator, args, kwargs):
    """A divisor is given."""
    divisor = kwargs.get("divisor_override", args[6] if len(args) > 6 else None)
    return operator in ("avg_pool2d", "avg_pool3d") and divisor is not None


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Without padding and ceil_mode: multiply by the size of the window, and divide by the divisor."""

    class Multiplying(torch.nn.Module):
        def forward(self, x):
            return F.avg_pool2d(x, 2) * 4 / 1

    return Multiplying(), (torch.tensor([[[[0.0, 1.0], [3.0, 4.0]]]]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the program {got.tolist()}")
    raise SystemExit(bug)
