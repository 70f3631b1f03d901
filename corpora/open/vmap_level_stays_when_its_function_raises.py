# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD284"
# title = "ep.module(): after a call that raised inside of torch.vmap, torch.rand and backward() raise"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a bad index inside torch.vmap, and a caller that catches the error and goes on"
# topics = ["vmap", "exceptions"]
# cause = """
# The graph calls `_vmap_increment_nesting`, then the function, then `_vmap_decrement_nesting`, without try
# and finally. Here an index out of range raises between them, in eager as well."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "run", "global", "raised", "functorch level"]]
# fix = "graphs_leave_levels_when_they_raise"
# upstream = "https://github.com/pytorch/pytorch/pull/122074"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/graph_module.py, _WrappedCall.__call__: does not leave levels when the graph raises"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A call of the program raises inside of torch.vmap. The process stays inside of this vmap: torch.rand,
dropout and backward() raise from then on.

The graph calls `_vmap_increment_nesting`, then the function, then `_vmap_decrement_nesting`, without try and
finally. Here an index out of range raises between them, in eager as well.
"""

import contextlib
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, i):
        return torch.vmap(lambda row: row[i])(x)


def make():
    return Model(), (torch.ones(2, 2), torch.tensor([1]))


def probes():
    return [((torch.ones(2, 2), torch.tensor([2])), {})]


def show():
    model, (x, i) = make()
    module = torch.export.export(model, (x, i)).module()
    with contextlib.suppress(IndexError):  # eager raises as well
        module(x, i + 1)
    try:
        torch.rand(1)
    except RuntimeError as error:
        return "no error", str(error)
    return "no error", "no error"


def make_workaround():
    """Index all rows at once, without torch.vmap."""

    class Indexing(Model):
        def forward(self, x, i):
            return x[:, i]

    return Indexing(), (torch.ones(2, 2), torch.tensor([1]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after a call that raised, torch.rand raises: {got:.70}")
    raise SystemExit(bug)
