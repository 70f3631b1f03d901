# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: after load_state_dict(assign=True), the second call of a module keeps its old weight"
# variant-of = "unflattened_module_splits_buffers_when_cast"
# path = "nonstrict+cast:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflattened_calls_keep_one_set_of_buffers"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/unflatten.py, _assign_attr: each call has dicts of its own"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A module is called twice, with another flag each time. After unflatten, load_state_dict(assign=True) gives
it a new weight. The first call uses it; the second one still uses the old weight.

unflatten makes a module of each call, `block` and `block@1`. `_assign_attr` gives both the same parameter,
but each module has a `_parameters` dict of its own. A new parameter in `block` does not reach `block@1`.
"""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(value))

    def forward(self, x, double):
        return x * self.weight * 2 if double else x * self.weight


class Model(nn.Module):
    def __init__(self, value=1.0):
        super().__init__()
        self.block = Block(value)

    def forward(self, x):
        return self.block(x, True), self.block(x, False)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    trained = Model(5.0)
    # Not strict: it has a second name for the weight, block@1.weight.
    unflattened.load_state_dict(trained.state_dict(), strict=False, assign=True)
    return [x.item() for x in trained(*args)], [x.item() for x in unflattened(*args)]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the unflattened module {got}")
    raise SystemExit(bug)
