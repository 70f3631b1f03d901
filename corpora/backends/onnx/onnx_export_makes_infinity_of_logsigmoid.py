# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: F.logsigmoid of a large negative number is -inf, instead of the number"
# id = "XO015"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "logsigmoid, or binary_cross_entropy_with_logits, of a score below -18"
# topics = ["losses"]
# cause = """
# aten_log_sigmoid makes Log(Sigmoid(x)) of log_sigmoid. The sigmoid of a large negative number is 0 (for ONNX
# Runtime, below -18), and its logarithm is -inf. logsigmoid exists to avoid this. The function should make
# -Softplus(-x), or min(x, 0) - log(1 + exp(-abs(x))), as torch computes it."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.logsigmoid"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/nn.py, aten_log_sigmoid: Log(Sigmoid(x))"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The result is -inf instead of -25: the converted model computes the logarithm of a sigmoid that is 0.

`aten_log_sigmoid` makes Log(Sigmoid(x)) of logsigmoid. It should make -Softplus(-x) of it.
"""

import sys

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x):
        return F.logsigmoid(x)  # first difference


def make():
    return Model(), (torch.tensor([-25.0]),)


def wrong_call(operator, args, kwargs):
    """The sigmoid is so small that an absolute error of 1e-7 counts."""
    return operator == "aten.log_sigmoid_forward.default" and bool((args[0] < -8).any())


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Call softplus."""

    class WithSoftplus(torch.nn.Module):
        def forward(self, x):
            return -F.softplus(-x)

    return WithSoftplus(), (torch.tensor([-25.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
