# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: cross_entropy ignores label_smoothing"
# id = "XO034"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that returns its loss, trained with smoothed labels"
# topics = ["losses"]
# cause = """
# aten_cross_entropy_loss takes label_smoothing and does not use it, because SoftmaxCrossEntropyLoss of ONNX
# has no such thing. It should compute the loss with LogSoftmax, or refuse the model."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.nn", "input.int64"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/nn.py, aten_cross_entropy_loss: an argument is ignored"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The loss with smoothed labels is 0.63. The converted model returns 0.13, the loss without smoothing.

`aten_cross_entropy_loss` does not use its argument `label_smoothing`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, scores, classes):
        return torch.nn.functional.cross_entropy(scores, classes, label_smoothing=0.5)  # first difference


def make():
    return Model(), (torch.tensor([[2.0, 0.0]]), torch.tensor([0]))


def wrong_call(operator, args, kwargs):
    """The labels are smoothed."""
    return operator == "cross_entropy" and bool(kwargs.get("label_smoothing"))


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Give the loss the smoothed labels of each class, computed with log_softmax."""

    class Smoothing(torch.nn.Module):
        def forward(self, scores, classes):
            losses = -scores.log_softmax(1)
            right = losses.gather(1, classes.unsqueeze(1)).mean()
            return 0.5 * right + 0.5 * losses.mean()

    return Smoothing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
