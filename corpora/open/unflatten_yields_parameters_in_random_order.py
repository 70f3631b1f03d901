# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD281"
# title = "unflatten: parameters() of a preserved module that is called twice has a random order"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a module that is called twice with its signature preserved, as to swap it, then trained"
# topics = ["names", "shared-modules"]
# cause = """
# `_dispatch_modules` collects their names in sets. Optimizers store their state by the position of
# parameters, so that a saved state belongs to other parameters in the next process."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "order", "parameters"]]
# hash-seeds = 4
# fix = "dispatcher_yields_state_in_order"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: attrs_map = defaultdict(set)"
# workaround = "none: find parameters by their names, not by their order"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved LSTM is called twice. Unflattened, its parameters have another order in each process.

`_dispatch_modules` collects their names in sets. Optimizers store their state by the position of parameters,
so that a saved state belongs to other parameters in the next process.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 2, bidirectional=True)

    def forward(self, x):
        return self.lstm(self.lstm(x)[0])[0]


def make():
    return Model(), (torch.ones(2, 4),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("lstm",))
    expected = [name for name, _ in model.named_parameters()]
    return expected, [name for name, _ in torch.export.unflatten(ep).named_parameters()]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager yields {expected[:3]}, unflatten {got[:3]}")
    raise SystemExit(bug)
