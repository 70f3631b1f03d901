# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD384"
# title = "torch.export: AssertionError 'Expected FakeTensor' for torch.func.functionalize in forward"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a model that calls torch.func.functionalize in forward"
# topics = ["in-place"]
# cause = """
# `functionalize` wraps its inputs with a C function that export does not see. Export records operators before
# they reach the wrapper, finds no input of the model behind it, and puts the wrapped tensor into the graph as
# a constant. In a program that export traces, `functionalize` should call the function itself:
# run_decompositions makes the whole program functional."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "AssertionError", "_trace.py:_produce_aten_artifact"],
# ]
# fix = "functionalize_calls_function_in_export"
# upstream = "https://github.com/pytorch/pytorch/issues/153063"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "torch/_functorch/eager_transforms.py, functionalize: wraps tensors in a way that no mode sees"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model calls torch.func.functionalize. Eager runs; export raises AssertionError: Expected FakeTensor.

`functionalize` wraps its inputs with a C function that export does not see. Export records operators before
they reach the wrapper, finds no input of the model behind it, and puts the wrapped tensor into the graph as a
constant. In a program that export traces, `functionalize` should call the function itself:
run_decompositions makes the whole program functional.
"""

import sys

import torch


class Model(torch.nn.Module):
    def increased(self, x):
        return x.clone().add_(1)

    def forward(self, x):
        return torch.func.functionalize(self.increased)(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Call the function itself: run_decompositions makes the whole program functional."""

    class Plain(Model):
        def forward(self, x):
            return self.increased(x)

    return Plain(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
