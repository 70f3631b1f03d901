# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a ReLU after clamp(max=...) is lost if max is negative"
# id = "XO006"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a ReLU, or clamp(min=...), after a clamp whose maximum is below its minimum"
# topics = ["losses"]
# cause = """
# A rule of the optimizer makes one Clip of Relu(Clip(x, max)): Clip(x, 0, max). If max is below 0, Clip gives
# max, and the ReLU gave 0. compute_clip_min_max should make max at least as large as the new min, where the
# ReLU comes second. The rule for two Clips has the same mistake."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.clamp_max"]
# runners = ["program", "file", "external"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "onnxscript/rewriter/rules/common/_fuse_relus_clips.py, compute_clip_min_max: max below min"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The converted model returns -1 where a ReLU makes it 0: the optimizer merges clamp and ReLU in a wrong way.

A clamp has a negative maximum, and a ReLU follows. The optimizer makes one Clip of both, with the minimum 0
and the negative maximum. Clip then gives its maximum. The new maximum should be 0.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.clamp(max=-1.0).relu()  # first difference


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Compute the ReLU with torch.where."""

    class Choosing(Model):
        def forward(self, x):
            x = x.clamp(max=-1.0)
            return torch.where(x > 0, x, 0.0)

    return Choosing(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the ONNX program {got}")
    raise SystemExit(bug)
