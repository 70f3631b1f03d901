# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: attention of a row that a boolean mask leaves out is an average, not 0"
# id = "XO036"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "padded sequences: a boolean mask that is False for all keys of a padded query"
# topics = ["attention"]
# cause = """
# The function for boolean masks adds the smallest finite number where the mask is False. If it is False for
# a whole row, all weights are equal, and the result is the average of the values. A later
# step replaces NaN by 0, but NaN appears only with -inf. The function should add -inf."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.heads"]
# upstream = "https://github.com/microsoft/onnxscript/pull/2479"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = """
# onnxscript/function_libs/torch_lib/ops/nn.py, _aten_scaled_dot_product_attention_bool_mask_onnx: neg_inf is
# query.dtype.min"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The mask leaves out both keys, so torch returns 0. The converted model returns the average of the values.

The converter adds the smallest finite number where the mask is False, and then looks for NaN, which only an
infinity gives.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, query, value, mask):
        return torch.nn.functional.scaled_dot_product_attention(query, query, value, mask)  # first difference


def make():
    mask = torch.tensor([[True, False], [False, False]])
    return Model(), (torch.ones(1, 1, 2, 1), torch.tensor([1.0, 3.0]).view(1, 1, 2, 1), mask)


def wrong_call(operator, args, kwargs):
    """A boolean mask leaves nothing of a row."""
    mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
    if operator != "scaled_dot_product_attention" or mask is None or mask.dtype != torch.bool:
        return False
    return not bool(mask.any(-1).all())


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Set the rows of which the boolean mask leaves nothing to 0."""

    class Zeroing(torch.nn.Module):
        def forward(self, query, value, mask):
            result = torch.nn.functional.scaled_dot_product_attention(query, query, value, mask)
            return result * mask.any(-1, keepdim=True)

    mask = torch.tensor([[True, False], [False, False]])
    return Zeroing(), (torch.ones(1, 1, 2, 1), torch.tensor([1.0, 3.0]).view(1, 1, 2, 1), mask)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the ONNX program {got.tolist()}")
    raise SystemExit(bug)
