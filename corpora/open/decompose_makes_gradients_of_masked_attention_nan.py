# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD376"
# title = "run_decompositions: gradients of attention are nan if a query may attend to nothing"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a batch of texts that are padded on the left, with a causal mask"
# evidence = ["https://github.com/pytorch/pytorch/issues/110213", "https://github.com/pytorch/pytorch/issues/103749"]
# topics = ["attention"]
# cause = """
# `_safe_softmax`, a part of attention, returns 0 for a row of -inf. Its decomposition takes the softmax of
# the row, which is nan, and replaces it by 0 with `torch.where`. Backward multiplies the nan by 0: the
# gradient is nan. The decomposition should replace the row before the softmax."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "decomposed_attention_has_finite_gradients"
# upstream = "https://github.com/pytorch/pytorch/pull/189045"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/_decomp/decompositions.py, safe_softmax: where does not block the gradient of softmax"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Attention with a mask: the first query may attend to nothing, as in a text that is padded on the left. In
eager and after export, the gradients are finite. After run_decompositions, all of them are nan.

`_safe_softmax`, a part of attention, returns 0 for a row of -inf. Its decomposition takes the softmax of the
row, which is nan, and replaces it by 0 with `torch.where`. Backward multiplies the nan by 0: the gradient is
nan. The decomposition should replace the row before the softmax.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def forward(self, x, mask):
        return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)  # first difference


def make():
    mask = torch.tensor([[False, False], [False, True]])
    return Model(), (torch.ones(1, 1, 2, 1, requires_grad=True), mask)


def gradient(module, args):
    module(*args).sum().backward()
    return args[0].grad.flatten()


def show():
    model, args = make()
    expected = gradient(model, args)
    args = make()[1]
    program = torch.export.export(model, args).run_decompositions()
    return expected, gradient(program.module(), args)


def make_workaround():
    """Let a query that may attend to nothing attend to everything, and replace what it gets by 0."""

    class Attending(nn.Module):
        def forward(self, x, mask):
            some = mask.any(-1, keepdim=True)
            return F.scaled_dot_product_attention(x, x, x, attn_mask=mask | ~some) * some

    return Attending(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)
