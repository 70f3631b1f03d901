# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): the state dict of a deep copy contains tensors that are plain attributes of the model"
# variant-of = "copy_of_exported_module_saves_what_does_not_persist"
# path = "nonstrict+duplicate:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "added"]]
# fix = "graph_module_copies_attributes_as_registered"
# upstream = ""
# at-fault = "torch/fx/graph_module.py, _copy_attr: registers a buffer for a tensor that is none"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has a scale as a plain tensor. A deep copy of the exported module saves it, and eager does not.

A GraphModule is copied with `_copy_attr`, which makes a saved buffer of each tensor that is no parameter.
"""

import copy
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.full((2,), 0.5)

    def forward(self, x):
        return x * self.scale


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    module = torch.export.export(model, args).module()
    return sorted(model.state_dict()), sorted(copy.deepcopy(module).state_dict())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager saves {expected}, the copy {got}")
    raise SystemExit(bug)
