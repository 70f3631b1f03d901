# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD117"
# title = "torch.export: AssertionError if a submodule raises and forward catches the error"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that tries one submodule, and takes another one if the first raises"
# topics = ["exceptions"]
# cause = """
# `Tracer.call_module` puts the submodule on a stack and takes it off after the call, but not if the call
# raises. It should do this in a finally block."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "AssertionError"]]
# fix = "tracer_leaves_module_that_raises"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/_symbolic_trace.py, Tracer.call_module: module_stack.popitem without try and finally"
# workaround = "none: asking for the rank exports, but the program then takes tensors of any rank"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward catches an error of its submodule and goes on. Non-strict export, the default, raises
AssertionError: "Unexpected key _export_root.child, expected _export_root".

`Tracer.call_module` puts the submodule on a stack and takes it off after the call, but not if the call
raises. It should do this in a finally block.
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
    return model(*args), torch.export.export(model, args, strict=False).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        if "Unexpected key" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises AssertionError: {error}")
    print(f"ok: eager gives {expected}, the program {got}")
