# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD374"
# title = "copy.deepcopy(ep.module()): eval() of the copy has no effect and raises nothing"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "an exported model that is fine-tuned, and averaged with AveragedModel, which copies it"
# topics = ["train-eval", "random", "copies"]
# cause = """
# The mode is fixed at export. The result of `ep.module()` refuses eval() and train() with
# NotImplementedError. `GraphModule.__deepcopy__` loses these two methods, so that the copy has those of
# nn.Module, which set a flag that nothing reads. It should keep them."""
# path = "nonstrict+duplicate:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "eval"]]
# fix = "copies_of_exported_modules_refuse_another_mode"
# upstream = "https://github.com/pytorch/pytorch/issues/151726"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/fx/graph_module.py, GraphModule.__deepcopy__: loses the train and eval that raise"
# workaround = "none: the mode is fixed by export; export the model once in train mode and once in eval mode"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with dropout is exported in train mode. After `eval()`, a deep copy of `ep.module()` still drops
values.

The mode is fixed at export. The result of `ep.module()` refuses eval() and train() with NotImplementedError.
`GraphModule.__deepcopy__` loses these two methods, so that the copy has those of nn.Module, which set a flag
that nothing reads. It should keep them.
"""

import copy
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
    copied = copy.deepcopy(torch.export.export(model, args).module())
    expected = model.eval()(*args)
    torch.manual_seed(0)
    return expected, copied.eval()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except NotImplementedError as error:
        print(f"ok: after eval(), eager raises nothing, the copy {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: after eval(), eager gives {expected}, the copy {got}")
    raise SystemExit(bug)
