# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: atan2(0, x) of a negative x is -pi, instead of pi"
# id = "XO020"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "the direction of a vector that points along the negative x axis: boxes, poses, headings"
# topics = ["dtypes"]
# cause = """
# _atan2 adds pi to atan(y / x) if y is larger than 0, and else subtracts it. So it takes y = 0 for negative.
# It should ask for the sign of y: subtract pi if y is less than 0 or is -0.0, and else add it."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.atan2"]
# upstream = "https://github.com/pytorch/pytorch/issues/162570"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, _atan2: Greater(y, 0) for y = 0"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The angle of the vector (-1, 0) is -pi after the conversion to ONNX, and pi in eager.

The converter computes atan2 with atan. For a y of 0, it goes to the wrong side.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.atan2(y, x)  # first difference


def make():
    return Model(), (torch.tensor([-1.0]), torch.tensor([0.0]))


def wrong_call(operator, args, kwargs):
    """The first argument is 0 somewhere."""
    return operator == "aten.atan2.default" and bool((args[0] == 0).any())


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Turn a y of 0 into a tiny number."""

    class Tiny(torch.nn.Module):
        def forward(self, x, y):
            return torch.atan2(torch.where(y == 0, torch.full_like(y, 1e-30), y), x)

    return Tiny(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
