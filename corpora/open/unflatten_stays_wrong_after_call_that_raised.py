# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD278"
# title = "unflatten: all results are wrong after one call that raised, for a preserved module called twice"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a shared block with a flag; the caller catches the error of one bad input and goes on"
# topics = ["exceptions", "shared-modules"]
# cause = """
# InterpreterModuleDispatcher counts the calls of a preserved module, to choose the graph. It starts again
# from 0 if its own graph raises, but not if another module raises. So the next call begins with the graph of
# the second call."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "after-refusal", "value", "dtype"]]
# fix = "unflatten_starts_with_first_calls"
# upstream = "https://github.com/pytorch/pytorch/pull/139439"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, InterpreterModuleDispatcher.forward: _num_calls"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved module is called twice, and `linear` between them refuses a float64 input. All later calls are
wrong.

InterpreterModuleDispatcher counts the calls of a preserved module, to choose the graph. It starts again from
0 if its own graph raises, but not if another module raises. So the next call begins with the graph of the
second call.
"""

import contextlib
import sys

import torch


class Scale(torch.nn.Module):
    def forward(self, x, up):
        return x * 2 if up else x + 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.linear = torch.nn.Linear(1, 1)

    def forward(self, x):
        return self.scale(self.linear(self.scale(x, True)), False)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1),)


def show():
    model, (x,) = make()
    ep = torch.export.export(model, (x,), preserve_module_call_signature=("scale",))
    unflattened = torch.export.unflatten(ep)
    with contextlib.suppress(RuntimeError):
        unflattened(x.double())
    return model(x).item(), unflattened(x).item()


def make_workaround():
    """Use one module for each call."""

    class Separate(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = Scale()
            self.linear = torch.nn.Linear(1, 1)
            self.shift = Scale()

        def forward(self, x):
            return self.shift(self.linear(self.scale(x, True)), False)

    torch.manual_seed(0)
    return Separate(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected:.4f}, unflatten: {got:.4f}")
    raise SystemExit(bug)
