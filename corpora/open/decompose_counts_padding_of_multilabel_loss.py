# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD042"
# title = "run_decompositions: MultiLabelMarginLoss counts the padding after the labels as labels"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "MultiLabelMarginLoss, as its documentation calls it: a wrong loss for any row with a -1"
# evidence = ["zoo:docs/nn.MultiLabelMarginLoss"]
# topics = ["losses"]
# cause = """
# The labels of a sample end at its first -1. The decomposition reads label 0 for each -1, and adds the
# margins of these labels to the loss. It should mask them out."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "multilabel_margin_loss_ends_at_the_first_minus_one"
# upstream = "https://github.com/pytorch/pytorch/issues/141017"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/189552"
# at-fault = "torch/_decomp/decompositions.py, multilabel_margin_loss_forward: target_mask does not mask z"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""After run_decompositions, MultiLabelMarginLoss is wrong for samples with padding (-1).

The labels of a sample end at its first -1. The decomposition reads label 0 for each -1, and adds the margins
of these labels to the loss. It should mask them out.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.MultiLabelMarginLoss()

    def forward(self, scores, labels):
        return self.loss(scores, labels)  # first difference


def make():
    return Model(), (torch.tensor([[0.0, 0.5, 0.0, 2.0]]), torch.tensor([[3, -1, -1, -1]]))


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args), decomposed(*args)


def make_workaround():
    """Write the loss out, with a mask for the padding."""

    class Masking(Model):
        def forward(self, scores, labels):
            used = (labels >= 0).long().cumprod(1)
            chosen = labels.clamp(min=0)
            is_label = torch.zeros_like(scores).scatter_add(1, chosen, used.to(scores.dtype)) > 0
            margins = 1 - scores.gather(1, chosen).unsqueeze(2) + scores.unsqueeze(1)
            margins = margins.clamp(min=0) * used.unsqueeze(2) * ~is_label.unsqueeze(1)
            return margins.sum((1, 2)).mean() / scores.shape[1]

    return Masking(), (torch.tensor([[0.0, 0.5, 0.0, 2.0]]), torch.tensor([[3, -1, -1, -1]]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the loss is {expected} in eager, {got} once decomposed")
    raise SystemExit(bug)
