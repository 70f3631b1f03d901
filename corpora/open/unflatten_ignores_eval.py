# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD256"
# former-ids = ["XD037"]
# title = "unflatten: eval() of an unflattened module has no effect and raises nothing"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "a model exported in train mode: after eval(), dropout goes on"
# evidence = ["https://github.com/pytorch/pytorch/issues/151726"]
# topics = ["train-eval", "random"]
# cause = """
# The mode is fixed at export. The result of `ep.module()` refuses eval() and train() with
# NotImplementedError. UnflattenedModule has those of nn.Module, which set a flag that nothing reads. It
# should refuse them, too."""
# path = "nonstrict:unflatten@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "eval"]]
# fix = "unflattened_modules_refuse_another_mode"
# upstream = "https://github.com/pytorch/pytorch/issues/103681"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/issues/151726: the graph keeps the mode of the export"
# at-fault = "torch/export/unflatten.py, UnflattenedModule: takes train and eval from nn.Module"
# workaround = "none: the mode is fixed by export; export the model once in train mode and once in eval mode"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with dropout is exported in train mode. After `eval()`, the unflattened module still drops values.

The mode is fixed at export. The result of `ep.module()` refuses eval() and train() with NotImplementedError.
UnflattenedModule has those of nn.Module, which set a flag that nothing reads. It should refuse them, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.9)

    def forward(self, x):
        return self.dropout(x)


def make():
    return Model(), (torch.ones(8),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    expected = model.eval()(*args)
    torch.manual_seed(0)
    return expected, unflattened.eval()(*args)


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
