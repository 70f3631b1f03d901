# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "ONNX Runtime: the sigmoid of -18 and less is 0, so its logarithm is -inf"
# id = "XO042"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a logarithm or a cross entropy of a probability that sigmoid gives"
# topics = ["losses"]
# cause = """
# The kernel of Sigmoid is a quotient of polynomials for numbers between -18 and 18. It gives 0 for -18 and
# less, where the sigmoid is up to 1.5e-8. A logarithm makes an infinite difference of that. For such
# numbers, the kernel should use the exponential function."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.binary_cross_entropy"]
# upstream = "https://github.com/microsoft/onnxruntime/issues/22557"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "onnxruntime/core/mlas/lib/logistic.cpp: it limits its inputs to -18 and 18"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The logarithm of a small probability is -inf in ONNX Runtime, and -20 in eager.

ONNX Runtime computes Sigmoid with polynomials, which give 0 for -18 and less.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sigmoid(x).log()  # first difference


def make():
    return Model(), (torch.tensor([-5.0, -20.0]),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Compute the logarithm of a sigmoid with softplus."""

    class Softplus(torch.nn.Module):
        def forward(self, x):
            return -torch.nn.functional.softplus(-x)

    return Softplus(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got, rtol=1e-3)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, ONNX Runtime {got.tolist()}")
    raise SystemExit(bug)
