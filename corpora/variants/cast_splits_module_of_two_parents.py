# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): after double() or half(), a module in two parents has two sets of buffers"
# variant-of = "cast_splits_module_of_two_names"
# path = "nonstrict+cast:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "buffer"]]
# trigger = ["hierarchy.two_parents"]
# upstream = "https://github.com/pytorch/pytorch/issues/121761"
# upstream-match = "symptom"
# at-fault = """
# torch/export/unflatten.py, _assign_attr: setattr(to_module, item, torch.nn.Module()) for each name of a
# module, though several names are one module"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two parts of a model use one norm. After a cast of the exported program, each has statistics of its own.

module() and unflatten make a plain module for each name of a module of the model. nn.Module._apply replaces
buffers module by module, so each of the two gets a separate one; in eager there is one module.
"""

import sys

import torch
from torch import nn


class Part(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return self.norm(x)


def make():
    norm = nn.BatchNorm1d(1)
    return nn.Sequential(Part(norm), nn.ReLU(), Part(norm)), (torch.ones(2, 1),)


def show():
    model, args = make()
    module = torch.export.export(model, args).module().double().float()
    model = model.double().float()
    model(*args)
    module(*args)
    return model.state_dict()["0.norm.running_mean"], module.state_dict()["0.norm.running_mean"]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
