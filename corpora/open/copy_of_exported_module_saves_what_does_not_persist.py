# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD038"
# title = "ep.module(): the state dict of a deep copy contains non-persistent buffers and constants"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a copy whose checkpoint is loaded into eager, or the other way round: loading fails"
# topics = ["buffers", "copies"]
# cause = """
# `_copy_attr`, with which a GraphModule is copied, calls `register_buffer` without `persistent=False`. So a
# checkpoint of the copy cannot be loaded into the eager model."""
# path = "nonstrict+duplicate:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "added"]]
# fix = "graph_module_copies_attributes_as_registered"
# upstream = "https://github.com/pytorch/pytorch/pull/191708"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/191708"
# at-fault = "torch/fx/graph_module.py, _copy_attr: register_buffer without persistent"
# workaround = "none: copy the exported program, and call module() of the copy"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""`copy.deepcopy(ep.module())` has a non-persistent buffer in its state dict. The module itself and eager do
not.

`_copy_attr`, with which a GraphModule is copied, calls `register_buffer` without `persistent=False`. So a
checkpoint of the copy cannot be loaded into the eager model.
"""

import copy
import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(2), persistent=False)

    def forward(self, x):
        return x * self.mask


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    expected = list(model.state_dict())
    return expected, list(copy.deepcopy(torch.export.export(model, args).module()).state_dict())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager's state dict has {expected}, that of the copy {got}")
    raise SystemExit(bug)
