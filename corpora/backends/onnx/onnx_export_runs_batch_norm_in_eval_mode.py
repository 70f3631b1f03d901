# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: BatchNorm in train mode computes with its running statistics"
# id = "XO013"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model exported without eval(), or one that normalizes with the statistics of the batch"
# topics = ["moving-averages"]
# cause = """
# aten__native_batch_norm_legit_functional sets training to False, a temporary fix as its comment says. So it
# normalizes with the running statistics, and returns them unchanged. It should use those of the batch, or
# refuse the model."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["state.running_statistics|idiom.updated_twice"]
# upstream = "https://github.com/microsoft/onnxscript/issues/1791"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/function_libs/torch_lib/ops/core.py, aten__native_batch_norm_legit_functional"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""A BatchNorm in train mode normalizes with the mean and variance of the batch. The converted model does so
with the running mean and variance, as in eval mode: it returns [1, 3] where eager returns [-1, 1].

The function of onnxscript that converts the operator sets training to False.
"""

import sys

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(1)

    def forward(self, x):
        return self.norm(x)  # first difference


def make():
    return Model(), (torch.tensor([[1.0], [3.0]]),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Normalize without running statistics. If you want eval mode, call model.eval() before the export."""

    class Normalizing(Model):
        def forward(self, x):
            with torch.no_grad():
                self.norm.running_mean.mul_(0.9).add_(x.mean(0) * 0.1)
                self.norm.running_var.mul_(0.9).add_(x.var(0) * 0.1)
                self.norm.num_batches_tracked.add_(1)
            return F.batch_norm(x, None, None, self.norm.weight, self.norm.bias, training=True)

    return Normalizing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got, atol=1e-4)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
