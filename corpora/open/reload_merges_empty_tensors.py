# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD190"
# title = "torch.export.load, unflatten: two empty parameters become one"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "two parameters without elements"
# topics = ["tied-weights"]
# cause = """
# `group_weights` compares the address of the storage, which is 0 for all empty tensors. It should not group
# these."""
# path = "nonstrict+reload:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "several-tensors-became-one"]]
# fix = "save_separates_empty_weights"
# upstream = "https://github.com/pytorch/pytorch/pull/164196"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/pt2_archive/_package_weights.py, group_weights: storage_ptr of the empty"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two empty parameters share memory after save and load, and are one parameter after unflatten.

`group_weights` compares the address of the storage, which is 0 for all empty tensors. It should not group
these.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.ones(0))
        self.b = torch.nn.Parameter(torch.ones(0))

    def forward(self, x):
        return x + self.a.sum() + self.b.sum()


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    loaded = torch.export.unflatten(torch.export.load(io.BytesIO(file.getvalue())))
    return model.a is model.b, loaded.a is loaded.b


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: a and b are one parameter: {expected} in eager, {got} after loading")
    raise SystemExit(bug)
