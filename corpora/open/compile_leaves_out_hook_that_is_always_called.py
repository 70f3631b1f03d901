# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD023"
# title = "torch.compile, export: a forward hook with always_call=True does not run if the module raises"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a model catches what its module raises, and a hook of the module writes to state"
# topics = ["hooks", "exceptions"]
# cause = """
# `Module._call_impl` skips the code for such hooks if `torch.compiler.is_compiling()`. A comment calls this
# "technically not behavior equivalent", as it is "incredibly unlikely" that Dynamo will support exceptions
# that are raised in a module and caught later. Dynamo supports them now, so that the code can run."""
# path = "compile:compiled@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "always_called_hooks_run_when_compiled"
# upstream = "https://github.com/pytorch/pytorch/pull/133239"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# defended = """
# https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py#L1874: support for an exception
# that is caught, raised again and caught is incredibly unlikely"""
# at-fault = "torch/nn/modules/module.py, Module._call_impl: if torch.compiler.is_compiling(): return inner()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A hook with always_call=True counts calls, also those that raise. Compiled, it does not count these.

`Module._call_impl` skips the code for such hooks if `torch.compiler.is_compiling()`. A comment calls this
"technically not behavior equivalent", as it is "incredibly unlikely" that Dynamo will support exceptions that
are raised in a module and caught later. Dynamo supports them now, so that the code can run.
"""

import sys

import torch
from torch import nn


class Single(nn.Module):
    def forward(self, x):
        if len(x) > 1:
            raise ValueError("one row at a time")
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.single = Single()
        self.register_buffer("calls", torch.zeros(1))
        self.single.register_forward_hook(self.count, always_call=True)

    def count(self, module, args, output):
        self.calls.add_(1)  # first difference

    def forward(self, x):
        try:
            return self.single(x) + self.calls
        except ValueError:
            return x + self.calls


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.compile(make()[0], backend="eager")(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, compiled {got}")
    raise SystemExit(bug)
