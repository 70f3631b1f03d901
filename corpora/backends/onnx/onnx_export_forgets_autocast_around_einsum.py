# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: einsum in an autocast block computes in float32 and returns float32"
# id = "XO017"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "attention with einsum in an autocast block"
# topics = ["autocast", "attention"]
# cause = """
# einsum has no autocast rule: its parts have. The conversion decomposes the program but keeps einsum, and
# removes the autocast region around it. So nothing casts any more. The same happens with
# run_decompositions({}). It should keep the region, or decompose such operators inside of it."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
# trigger = ["region.autocast"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# torch/onnx/_internal/exporter/_fx_passes.py, decompose_with_registry: a table without einsum, which
# run_decompositions then records outside of its region"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The ONNX program returns float32, where eager returns bfloat16.

The conversion removes the autocast block around an einsum and casts nothing.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cpu"):
            return torch.einsum("ij,ij->j", x, x)  # first difference


def make():
    return Model(), (torch.ones(2, 1),)


def wrong_call(operator, args, kwargs):
    """An operator without an autocast rule is called in an autocast block."""
    return operator in ("einsum", "inner", "tensordot", "gru", "lstm") and torch.is_autocast_enabled("cpu")


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Turn autocast off around einsum, and cast its result."""

    class Casting(torch.nn.Module):
        def forward(self, x):
            with torch.autocast("cpu", enabled=False):
                return torch.einsum("ij,ij->j", x, x).bfloat16()

    return Casting(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected.dtype != got.dtype
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.dtype}, the ONNX program {got.dtype}")
    raise SystemExit(bug)
