# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.load: a non-persistent buffer of a module with two names becomes two tensors"
# variant-of = "reload_makes_tied_parameters_several"
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "buffer"]]
# fix = "save_tells_which_weights_are_one"
# upstream = ""
# at-fault = "torch/export/pt2_archive/_package.py, _load_constants: as_strided(...) for each name"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# "2.15.0" = "shows"
# ///
"""A module is used under two names, and has a non-persistent buffer. After save and load, it is two tensors.

The tensors share memory. `_load_constants` makes a new tensor for each name.
"""

import io
import sys

import torch
from torch import nn


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.ones(2), persistent=False)

    def forward(self, x):
        return x + self.table


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Child()
        self.second = self.first

    def forward(self, x):
        return self.first(x) * self.second(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    return model.first.table is model.second.table, loaded.first.table is loaded.second.table


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: both names have one tensor: {expected} in eager, {got} after load")
    raise SystemExit(bug)
