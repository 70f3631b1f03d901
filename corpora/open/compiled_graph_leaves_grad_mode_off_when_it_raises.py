# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD036"
# title = "torch.compile, backend eager: gradients stay off after an exception inside torch.no_grad"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a call that raises under no_grad; backends that run the graph of Dynamo as it is"
# topics = ["no-grad", "exceptions"]
# cause = """
# Dynamo writes the two ends of the `with` block into its graph as two calls. If an operator between them
# raises, the second call does not run. Here the matrix product raises at run time because of mixed dtypes.
# The graph should restore the mode like a `with` block. This affects the backend "eager", and custom
# backends that run the graph of Dynamo as it is."""
# path = "compile:compiled@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "run", "global", "raised"]]
# fix = "failed_graph_restores_grad_mode"
# upstream = "https://github.com/pytorch/pytorch/pull/122074"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/ctx_manager.py, GradModeVariable: both ends are mere nodes"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After a compiled call raises under `torch.no_grad`, gradients are off for all code that runs later.

Dynamo writes the two ends of the `with` block into its graph as two calls. If an operator between them
raises, the second call does not run. Here the matrix product raises at run time because of mixed dtypes. The
graph should restore the mode like a `with` block. This affects the backend "eager", and custom backends that
run the graph of Dynamo as it is.
"""

import contextlib
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        with torch.no_grad():
            return x.reshape(-1, 1) @ y.reshape(1, -1)  # the outer product


def make():
    return Model(), (torch.ones(1), torch.ones(1))


def show():
    model, (x, y) = make()
    with contextlib.suppress(RuntimeError):  # the dtypes differ: eager raises as well
        torch.compile(model, backend="eager")(x.double(), y)
    return True, torch.is_grad_enabled()


def make_workaround():
    """Detach the inputs instead of switching gradients off."""

    class Detaching(Model):
        def forward(self, x, y):
            return x.detach().reshape(-1, 1) @ y.detach().reshape(1, -1)  # the outer product

    return Detaching(), (torch.ones(1), torch.ones(1))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after a call that raised, grad mode is {got}")
    raise SystemExit(bug)
