# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export(optimize=False): a buffer has the value of the argument of the same name"
# id = "XO021"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an argument mask or scale, and a buffer or parameter of this name as its default"
# topics = ["names", "buffers"]
# cause = """
# _exported_program_to_onnx_program gives the input of a buffer, such as b_scale, the name of the buffer. It
# does not ask whether an argument has this name. So two inputs have one name, and ONNX Runtime takes one
# for both. It should rename one of them. The optimizer does so. XO007 is an error of the same function."""
# path = "onnx:plain@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["names.operator"]
# runners = ["plain"]
# upstream = "https://github.com/pytorch/pytorch/issues/168211"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = "torch/onnx/_internal/exporter/_core.py, _exported_program_to_onnx_program: names are not unique"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The ONNX program multiplies the argument `scale` by itself, instead of by the buffer `scale`.

Without the optimizer, both inputs of the graph have the name `scale`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.tensor([5.0]))

    def forward(self, scale):
        return scale * self.scale  # first difference


def make():
    return Model(), (torch.tensor([3.0]),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False, optimize=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Give the argument another name."""

    class Renamed(Model):
        def forward(self, factor):
            return factor * self.scale

    return Renamed(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
