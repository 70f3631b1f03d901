# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: ValueError 'Cannot view a tensor' after attention with a learned bias"
# id = "XO042"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "attention with a relative position bias, such as MaxViT of timm"
# evidence = ["https://github.com/huggingface/pytorch-image-models/blob/main/timm/models/maxxvit.py"]
# topics = ["attention", "layout"]
# cause = """
# Attention takes another kernel if its mask requires grad, and the result then has another layout. The
# conversion decomposes reshape to view without gradients. InsertTypePromotion runs each node again with
# gradients, so the view does not fit the layout any more. The pass should run without gradients as well."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "ValueError", "fake_impls.py:_view_meta"]]
# trigger = ["op.heads|state.parameter"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "torch/onnx/_internal/fx/passes/type_promotion.py, InsertTypePromotion: runs with gradients"
# workaround = "none: call requires_grad_(False) on a copy of the model, and export the copy"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises ValueError: "Cannot view a tensor with shape torch.Size([3, 4, 2, 4])".

The bias of the attention is a parameter, so it requires grad. A pass of the conversion then computes another
layout for the result than the decomposition has seen before, and a view does not fit it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(2, 4, 4))

    def forward(self, x):
        x = x.transpose(1, 2)
        x = torch.nn.functional.scaled_dot_product_attention(x, x, x, self.bias.unsqueeze(0))
        return x.transpose(1, 2).reshape(3, 2, 2, 8)


def make():
    return Model(), (torch.ones(3, 4, 2, 4),)


def wrong_call(operator, args, kwargs):
    """The mask requires grad."""
    mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
    return operator == "scaled_dot_product_attention" and mask is not None and mask.requires_grad


def show():
    model, args = make()
    torch.onnx.export(torch.export.export(model, args), verbose=False)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "Cannot view a tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.onnx.export raises {type(error).__name__}")
    print("ok: neither eager nor torch.onnx.export raises")
