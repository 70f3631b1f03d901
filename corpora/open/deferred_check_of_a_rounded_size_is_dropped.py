# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD061"
# title = "prefer_deferred_runtime_asserts_over_guards: int(n * 0.5) keeps the value of the example"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a share of a dynamic size, as int(n * 0.5); only with the option"
# topics = ["dynamic-sizes"]
# cause = """
# int(n * 0.5) makes a number of the size: the guard is that the half is 2. With
# prefer_deferred_runtime_asserts_over_guards=True, the program must check this at run time instead.
# `insert_deferred_runtime_asserts` leaves out checks that it cannot write as nodes, here one with ToFloat
# and TruncToInt. It should write them."""
# path = "nonstrict+deferred:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "shape", "output-views-input", "probe"],
# ]
# fix = "deferred_checks_divide_sizes"
# upstream = "https://github.com/pytorch/pytorch/pull/132457"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/passes/runtime_assert.py, add_runtime_asserts: _has_uninterpretable_sympy_function"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model takes `int(n * 0.5)` of n rows. Exported with four rows, the program takes two of any number of
rows.

int(n * 0.5) makes a number of the size: the guard is that the half is 2. With
prefer_deferred_runtime_asserts_over_guards=True, the program must check this at run time instead.
`insert_deferred_runtime_asserts` leaves out checks that it cannot write as nodes, here one with ToFloat and
TruncToInt. It should write them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[: int(x.shape[0] * 0.5)]  # first difference


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def probes():
    return [((torch.ones(8),), {})]


def show():
    model, args = make()
    option = {"prefer_deferred_runtime_asserts_over_guards": True}
    ep = torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), **option)
    x = torch.ones(8)
    return len(model(x)), len(ep.module()(x))


def make_workaround():
    """Use n // 2, which the program can compute from its input."""

    class Halving(torch.nn.Module):
        def forward(self, x):
            return x[: x.shape[0] // 2]

    return Halving(), (torch.ones(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "Runtime assertion failed" not in str(error):
            raise
        print("ok: of 8 rows eager takes 4, the program refused")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: of 8 rows eager takes {expected}, the program {got}")
    raise SystemExit(bug)
