# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD092"
# title = "torch.export: a no_grad block within an autocast block is dropped"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "no_grad in an autocast block, for a target, say: silently wrong gradients"
# topics = ["no-grad", "autocast"]
# cause = """
# Export splits the graph where the grad mode changes, and enters autocast again at the start of each part.
# `_is_set_grad_enabled_sub_mod` looks at the first node of a part only, finds autocast, and does not see
# no_grad. It should skip the nodes that enter autocast."""
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "no_grad_is_kept_within_autocast"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/replace_set_grad_with_hop_pass.py, _is_set_grad_enabled_sub_mod"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In eager, no gradient flows through `target`, which is computed under no_grad. In the program it does.

Export splits the graph where the grad mode changes, and enters autocast again at the start of each part.
`_is_set_grad_enabled_sub_mod` looks at the first node of a part only, finds autocast, and does not see
no_grad. It should skip the nodes that enter autocast.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                target = x * self.weight  # first difference
            return x * self.weight - target


def make():
    return Model(), (torch.ones(2),)


def gradient(call, weight):
    call(torch.ones(2)).sum().backward()
    return weight.grad


def show():
    model, args = make()
    exported = torch.export.export(model, args).module()
    got = gradient(exported, exported.weight)
    fresh = make()[0]
    expected = gradient(fresh, fresh.weight)
    return expected, got


def make_workaround():
    """Detach the value instead of computing it under no_grad."""

    class Detaching(Model):
        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                target = (x * self.weight).detach()
                return x * self.weight - target

    return Detaching(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} exported")
    raise SystemExit(bug)
