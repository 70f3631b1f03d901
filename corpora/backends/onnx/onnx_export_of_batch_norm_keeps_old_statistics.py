# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: after batch norm with training=True, forward reads the old running statistics"
# id = "XO013"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "batch norm that trains in an exported model, and forward reads its statistics afterwards"
# topics = ["moving-averages"]
# cause = """
# aten__native_batch_norm_legit_functional returns new running statistics as results 3 and 4. It gives the old
# ones that it got. It should compute the moving averages."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["idiom.updated_twice"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten__native_batch_norm_legit_functional"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The converted model returns 0.0 where eager returns 0.1: batch norm has not updated the running mean.

`_native_batch_norm_legit_functional` returns the new running statistics among its results. Its ONNX function
returns the old ones.
"""

import sys

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("center", torch.zeros(1))
        self.register_buffer("spread", torch.ones(1))

    def forward(self, x):
        y = F.batch_norm(x, self.center, self.spread, training=True)
        return y + self.center  # first difference


def make():
    return Model(), (torch.ones(4, 1),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Compute the running mean in forward."""

    class Computing(Model):
        def forward(self, x):
            y = F.batch_norm(x, None, None, training=True)
            self.center.mul_(0.9).add_(x.mean(0) * 0.1)
            self.spread.mul_(0.9).add_(x.var(0) * 0.1)
            return y + self.center

    return Computing(), (torch.ones(4, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
