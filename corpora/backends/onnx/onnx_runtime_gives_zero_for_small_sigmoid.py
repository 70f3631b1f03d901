# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "ONNX Runtime: sigmoid is 0 below -18, and binary_cross_entropy of it is 100 instead of 25"
# id = "XO014"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "the logarithm of a sigmoid, as in a loss or a log-likelihood that the model returns"
# topics = ["losses"]
# cause = """
# On the CPU, ONNX Runtime computes the sigmoid of float32 as 0.5 plus a quotient, and takes -18 for all
# smaller inputs. So the absolute error is up to 1e-7, and the result below -18 is 0, where torch has 1e-11.
# The logarithm is then -inf, of which binary_cross_entropy makes 100. The relative error should be small."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.binary_cross_entropy"]
# upstream = "https://github.com/microsoft/onnxruntime/issues/22557"
# upstream-match = "symptom"
# upstream-searched = "2026-11-28"
# defended = "https://github.com/pytorch/pytorch/issues/147508: the values are very small, or close"
# at-fault = "onnxruntime/core/mlas/lib/logistic.cpp, MlasLogisticKernel: it takes -18 for smaller inputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The loss is 100 instead of 25: ONNX Runtime gives 0 for the sigmoid of -25, whose logarithm is -inf.

ONNX Runtime approximates sigmoid with an absolute error, and gives 0 below -18. In torch, the sigmoid of -25
is 1.4e-11. The relative error should be small as well.
"""

import sys

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x):
        return F.binary_cross_entropy(torch.sigmoid(x), torch.ones(1))  # first difference


def make():
    return Model(), (torch.tensor([-25.0]),)


def wrong_call(operator, args, kwargs):
    """The result is so small that an absolute error of 1e-7 counts."""
    return operator == "aten.sigmoid.default" and bool((args[0] < -8).any())


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Compute the sigmoid with exp, or the loss of logits with softplus."""

    class WithExp(torch.nn.Module):
        def forward(self, x):
            return F.binary_cross_entropy(1 / (1 + torch.exp(-x)), torch.ones(1))

    return WithExp(), (torch.tensor([-25.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
