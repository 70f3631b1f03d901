# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD085"
# title = "torch.export(strict=False): turns the cache of autocast off; gradients are rounded differently"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a weight used several times within autocast: cast each time, gradients round otherwise"
# topics = ["autocast", "shared-modules"]
# cause = """
# With the cache, a weight is cast once, and its gradients are added in bfloat16. The program casts it at each
# use, and adds the gradients in float32. make_fx disables the cache while it traces, and `autocast.__enter__`
# records this as if the user had asked for it. Strict export records None, and agrees with eager."""
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# fix = "record_the_autocast_cache_as_given"
# upstream = "https://github.com/pytorch/pytorch/pull/172641"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/amp/autocast_mode.py, autocast.__enter__: args records self._cache_enabled"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The graph says `wrap_with_autocast(..., cache_enabled=False)`. In eager, the cache of autocast is on.

With the cache, a weight is cast once, and its gradients are added in bfloat16. The program casts it at each
use, and adds the gradients in float32. make_fx disables the cache while it traces, and `autocast.__enter__`
records this as if the user had asked for it. Strict export records None, and agrees with eager.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.linear(self.linear(x))  # first difference


def make():
    torch.manual_seed(0)
    return Model(), (torch.randn(8, 16),)


def gradient(call, weight, x):
    call(x).sum().backward()
    return weight.grad


def show():
    model, args = make()
    exported = torch.export.export(model, args).module()
    got = gradient(exported, exported.linear.weight, *args)
    fresh = make()[0]
    expected = gradient(fresh, fresh.linear.weight, *args)
    return expected, got


def make_workaround():
    """Pass cache_enabled to autocast."""

    class Caching(Model):
        def forward(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=True):
                return self.linear(self.linear(x))

    torch.manual_seed(0)
    return Caching(), (torch.randn(8, 16),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradients differ by up to {(expected - got).abs().max()}")
    raise SystemExit(bug)
