# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: program raises for a write to a slice of a complex tensor"
# severity = "C"
# severity-because = "a write to a slice of a complex tensor that requires gradients"
# cause = """
# Functionalization makes slice_scatter of the write, which GRADIENT_IMPLEMENTED_FOR_COMPLEX in
# tools/autograd/gen_variable_type.py does not list."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "does not support automatic differentiation for outputs with",
#     ],
# ]
# trigger = ["op.complex", "inplace.item"]
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "tools/autograd/gen_variable_type.py, GRADIENT_IMPLEMENTED_FOR_COMPLEX: lacks slice_scatter"
# ///
"""Eager runs and has gradients; the decomposed program raises as soon as it is called with grad mode on.

A write to a slice is slice and copy_, both of which autograd can do for complex tensors. The decomposed
program has slice_scatter instead, whose formula autograd refuses to use for complex tensors. The list is read
when torch is built, so no patch of Python mends it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        z = torch.complex(x, x)
        z[1:] = 1.0
        return z.abs()


def make():
    return Model(), (torch.ones(3, requires_grad=True),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    module = torch.export.export(model, args).run_decompositions().module()
    try:
        module(*args)
    except RuntimeError as error:
        print(f"BUG: eager runs, the decomposed program raises {error}")
        raise SystemExit(1) from None
    print("ok: the decomposed program runs")
