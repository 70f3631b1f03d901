# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: F.logsigmoid of -18 and less is -inf"
# id = "XO043"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a log-probability of a classifier or of a preference model, which F.logsigmoid gives"
# topics = ["losses"]
# cause = """
# aten_log_sigmoid is Log(Sigmoid(x)). Sigmoid becomes 0 for small numbers, in ONNX Runtime at -18. The
# function exists in torch to avoid this. aten_log_sigmoid should be -Softplus(-x)."""
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
"""F.logsigmoid(-20) is -inf after the conversion to ONNX, and -20 in eager.

The converter writes it as the logarithm of a sigmoid, which is 0 for such numbers.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.logsigmoid(x)  # first difference


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
