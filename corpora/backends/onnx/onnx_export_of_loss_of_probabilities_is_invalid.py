# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ONNX Runtime cannot load cross_entropy with probabilities as targets"
# id = "XO035"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that returns its loss, with mixed or distilled targets"
# topics = ["losses"]
# cause = """
# In torch, the targets of cross_entropy may be class indices, or probabilities of all classes.
# aten_cross_entropy_loss gives both to SoftmaxCrossEntropyLoss of ONNX, which takes integers only. It should
# compute the loss of probabilities with LogSoftmax, or refuse the model."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "InvalidGraph", "This is an invalid Type Error Type of"],
# ]
# trigger = ["op.nn"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/nn.py, aten_cross_entropy_loss: targets of floats"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""ONNX Runtime cannot load a model that computes the cross entropy of two distributions.

`aten_cross_entropy_loss` makes an operator of it that takes class indices only.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, scores, probabilities):
        return torch.nn.functional.cross_entropy(scores, probabilities)


def make():
    return Model(), (torch.tensor([[2.0, 0.0]]), torch.tensor([[0.5, 0.5]]))


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Compute the loss with log_softmax, here for rows of scores, without weights and smoothing."""

    class WithLogSoftmax(torch.nn.Module):
        def forward(self, scores, probabilities):
            return -(probabilities * scores.log_softmax(1)).sum(1).mean()

    return WithLogSoftmax(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "SoftmaxCrossEntropyLoss" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, ONNX Runtime raises {type(error).__name__}")
    print("ok: neither eager nor ONNX Runtime raises")
