# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: eval() has no effect on a branch on self.training, and raises nothing"
# variant-of = "unflatten_ignores_eval"
# path = "nonstrict:unflatten@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "eval"]]
# trigger = ["control.training"]
# upstream = "https://github.com/pytorch/pytorch/issues/103681"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule: takes train and eval from nn.Module"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model scales its input in train mode only. It is exported in train mode. After `eval()`, the unflattened
module still scales its input.

The program has only the branch that was taken at export. The result of `ep.module()` refuses eval() and
train() with NotImplementedError. UnflattenedModule has those of nn.Module, which set a flag that nothing
reads. It should refuse them, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x / 0.9 if self.training else x


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model.eval()(*args), unflattened.eval()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except NotImplementedError as error:
        print(f"ok: after eval(), eager raises nothing, the unflattened module {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: after eval(), eager gives {expected}, the unflattened module {got}")
    raise SystemExit(bug)
