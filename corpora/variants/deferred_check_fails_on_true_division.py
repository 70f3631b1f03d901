# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "prefer_deferred_runtime_asserts_over_guards: TraceError for math.floor(n / 2)"
# variant-of = "deferred_check_of_a_rounded_size_is_dropped"
# path = "nonstrict+deferred:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "TraceError",
#         "reference.py:int_truediv",
#         "proxy.py:__bool__",
#         "proxy.py:to_bool",
#     ],
# ]
# fix = "deferred_checks_divide_sizes"
# upstream = ""
# at-fault = "torch/utils/_sympy/reference.py, PythonReferenceAnalysis: int_truediv is missing"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model takes the first `math.floor(n / 2)` rows. With prefer_deferred_runtime_asserts_over_guards=True,
export raises TraceError.

The check that n / 2 is in range should become an assert in the graph. `PythonReferenceAnalysis`, which writes
it, has no case for true division. With n // 2 it works.
"""

import math
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[: math.floor(x.shape[0] / 2)]


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def show():
    model, args = make()
    option = {"prefer_deferred_runtime_asserts_over_guards": True}
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), **option)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.fx.proxy.TraceError as error:
        sys.exit(f"BUG: export of a model that halves its size raises {error!r}")
    print("ok: export of a model that halves its size raises nothing")
