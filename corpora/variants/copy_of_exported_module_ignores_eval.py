# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "copy.deepcopy(ep.module()): eval() of the copy has no effect and raises nothing"
# variant-of = "unflatten_ignores_eval"
# path = "nonstrict+duplicate:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "eval"]]
# trigger = ["layer.dropout", "hierarchy.copied"]
# upstream = "https://github.com/pytorch/vision/issues/8634"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/graph_module.py, GraphModule.__deepcopy__: loses the train and eval that raise"
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
`GraphModule.__deepcopy__` loses these two methods, so that the copy has those of nn.Module. It should keep
them.
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
