# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD171"
# title = "ep.module(): gradients stay off after an exception inside torch.no_grad"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a bad index under no_grad; training goes on in the same process, without gradients"
# topics = ["no-grad", "exceptions"]
# cause = """
# `WrapWithSetGradEnabled.__call__` sets the grad mode before the block and restores it after it, without try
# and finally. Since PR 163295 it has no with statement. Here an index out of range raises, in eager as
# well."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "run", "global", "raised", "grad mode"]]
# fix = "no_grad_region_restores_grad_mode"
# upstream = "https://github.com/pytorch/pytorch/pull/163295"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, WrapWithSetGradEnabled.__call__: no try and finally"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""If a call of the program raises under `torch.no_grad`, gradients are off for all code that runs later.

`WrapWithSetGradEnabled.__call__` sets the grad mode before the block and restores it after it, without try
and finally. Since PR 163295 it has no with statement. Here an index out of range raises, in eager as well.
"""

import contextlib
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, i):
        with torch.no_grad():
            return x[i] * 2


def make():
    return Model(), (torch.ones(2), torch.tensor([1]))


def probes():
    return [((torch.ones(2), torch.tensor([2])), {})]


def show():
    model, (x, i) = make()
    module = torch.export.export(model, (x, i)).module()
    with contextlib.suppress(IndexError):  # eager raises as well
        module(x, i + 1)
    return True, torch.is_grad_enabled()


def make_workaround():
    """Detach the input instead of computing under no_grad."""

    class Detaching(Model):
        def forward(self, x, i):
            return x.detach()[i] * 2

    return Detaching(), (torch.ones(2), torch.tensor([1]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after a call that raised, grad mode is {got}")
    raise SystemExit(bug)
