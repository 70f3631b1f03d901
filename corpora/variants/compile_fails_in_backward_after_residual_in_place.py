# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: RuntimeError in backward if a parameter is added in place to an input"
# variant-of = "compile_gives_wrong_gradients_after_buffer_update"
# path = "compile:aot_eager@cpu"
# check = "gradients"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "gradients",
#         "crash",
#         "backward",
#         "run",
#         "RuntimeError",
#         "function.py:apply_boxed",
#         "runtime_wrappers.py:backward",
#         "subclass_codegen.py:codegen(compiled_function_backward):_compiled_backward",
#     ],
# ]
# fix = "backward_recomputes_nothing_from_updated_inputs"
# upstream = ""
# at-fault = "torch/_functorch/partitioners.py, min_cut_rematerialization_partition: saves an updated input"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""`h = x.relu(); x.add_(self.w); return x * h`: eager trains; compiled, backward raises "modified by an
inplace operation".

The partitioner saves x for backward and computes h again there. But forward has updated x by then. The
min-cut partitioner should not save an input that the graph updates.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x):
        h = x.relu()
        x.add_(self.w)
        return x * h


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    model(*args).sum().backward()
    expected = model.w.grad
    model, args = make()
    torch.compile(model, backend="aot_eager")(*args).sum().backward()
    return expected, model.w.grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the compiled model raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, compiled {got}")
    raise SystemExit(bug)
