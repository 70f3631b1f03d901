# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a RuntimeError about an OpOverload, for 1.0 - mask, if the mask has integers"
# id = "XO029"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "1.0 - attention_mask, as in BigBird of transformers"
# evidence = ["https://github.com/pytorch/pytorch/issues/194381"]
# topics = ["attention", "dtypes"]
# cause = """
# rsub is decomposed into sub with the number first. The pass for type promotion casts the tensor to floats,
# and looks for an overload of sub for these arguments. There is none that takes a number first. The pass
# should make a tensor of the number."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "RuntimeError", "type_promotion.py:_maybe_promote_node",
#     "type_promotion.py:_rerun_node_after_type_promotion", "type_promotion.py:find_compatible_op_overload"],
# ]
# trigger = ["op.map|op.float|op.int"]
# upstream = "https://github.com/pytorch/pytorch/issues/194381"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/194522"
# upstream-searched = "2026-11-28"
# at-fault = """
# torch/onnx/_internal/fx/passes/type_promotion.py, _rerun_node_after_type_promotion: no overload of sub
# takes a number first"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises a ConversionError for a number with a point minus a tensor of integers.

The error is "Cannot find a compatible OpOverload for aten.sub", from the pass for type promotion.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, mask):
        return x + (1.0 - mask) * -1e4


def make():
    return Model(), (torch.ones(3), torch.tensor([1, 1, 0]))


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Convert the mask to floats first."""

    class Converting(torch.nn.Module):
        def forward(self, x, mask):
            return x + (1.0 - mask.float()) * -1e4

    return Converting(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.onnx.errors.OnnxExporterError as error:
        if "Cannot find a compatible OpOverload" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
