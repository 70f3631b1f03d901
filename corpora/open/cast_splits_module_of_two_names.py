# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD329"
# title = "ep.module(): after to(), double() or half(), a module with two names has two sets of buffers"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "one BatchNorm in two places, and a cast after the export: statistics are updated apart"
# topics = ["tied-weights", "shared-modules", "buffers", "dtypes"]
# cause = """
# module() and unflatten make a plain module for each name of a module of the model. nn.Module._apply replaces
# buffers module by module, so each of the two gets a separate one; in eager there is one module."""
# path = "nonstrict+cast:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "one-tensor-became-several", "buffer"]]
# trigger = ["hierarchy.shared|hierarchy.two_parents"]
# upstream = "https://github.com/pytorch/pytorch/issues/121761"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# workaround = "none: cast the model before it is exported"
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
"""One BatchNorm is in two places of a model. After a cast, the exported module has two copies of its buffers.

The first call updates running_mean under one name only: the other name keeps the old statistics, which a
checkpoint then contains.
"""

import sys

import torch


def make():
    norm = torch.nn.BatchNorm1d(1)
    return torch.nn.Sequential(norm, torch.nn.ReLU(), norm), (torch.ones(2, 1),)


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
