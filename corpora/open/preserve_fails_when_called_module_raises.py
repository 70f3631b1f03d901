# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD180"
# title = "preserve_module_call_signature: KeyError if the submodule raises and forward catches the error"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a model that tries one submodule, and takes another one if the first raises"
# topics = ["exceptions"]
# cause = """
# A pre-hook marks the start of the call, a hook marks its end and stores the signature. If the call raises,
# the hook does not run, and `CollectTracepointsPass` does not find the signature. (Non-strict export fails as
# well, but for another reason before this one.)"""
# path = "strict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "KeyError"]]
# fix = "tracepoints_of_calls_that_raise_are_dropped"
# upstream = "https://github.com/pytorch/pytorch/pull/189569"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/collect_tracepoints_pass.py, CollectTracepointsPass.call: self.specs[path]"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward catches the error of its preserved submodule and goes on. Export raises KeyError.

A pre-hook marks the start of the call, a hook marks its end and stores the signature. If the call raises, the
hook does not run, and `CollectTracepointsPass` does not find the signature. (Non-strict export fails as well,
but for another reason before this one.)
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        if x.dim() == 1:
            raise ValueError("a batch is needed")
        return x.mean(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        try:
            return self.child(x)
        except ValueError:
            return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    expected = model(*args)
    program = torch.export.export(model, args, strict=True, preserve_module_call_signature=("child",))
    return expected, torch.export.unflatten(program)(*args)


def make_workaround():
    """Ask for what the submodule needs, instead of catching its error."""

    class Asking(Model):
        def forward(self, x):
            return x + 1 if x.dim() == 1 else self.child(x)

    return Asking(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, export raises KeyError: {error}")
    print(f"ok: eager gives {expected}, the program {got}")
