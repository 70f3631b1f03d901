# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): after double() or half(), a copy.copy of a module has buffers of its own"
# variant-of = "cast_splits_module_of_two_names"
# path = "nonstrict+cast:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "buffer"]]
# trigger = ["hierarchy.copied"]
# upstream = "https://github.com/pytorch/pytorch/issues/121761"
# upstream-match = "symptom"
# at-fault = """
# torch/export/unflatten.py, _assign_attr: setattr(to_module, item, torch.nn.Module()) for each name of a
# module, though some of these modules share one dict of buffers"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model uses a norm and its copy.copy. After a cast of the exported program, each has its own statistics.

copy.copy copies the attributes of a module, so both modules have one dict of buffers, and a cast replaces the
buffers of both. module() and unflatten make modules with dicts of their own, so a cast separates them.
"""

import copy
import sys

import torch
from torch import nn


def make():
    norm = nn.BatchNorm1d(1)
    return nn.Sequential(norm, nn.ReLU(), copy.copy(norm)), (torch.ones(2, 1),)


def show():
    model, args = make()
    module = torch.export.export(model, args).module().double().float()
    model = model.double().float()
    model(*args)
    module(*args)
    return model.state_dict()["0.running_mean"], module.state_dict()["0.running_mean"]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
