# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: RuntimeError in backward where a parameter is added in place to an input"
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
# affected = ["2.13.0"]
# at-fault = "torch/_functorch/partitioners.py, min_cut_rematerialization_partition: saves an updated input"
# ///
"""`h = x.relu(); x.add_(self.w); return x * h`: the backward raises, as x was modified in place.

For the backward the graph saves x, and computes h again. x is updated when the compiled forward has run.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    model(*args).sum().backward()
    expected = model.w.grad
    model, args = make()
    model.compile(backend="aot_eager")
    out = model(*args).sum()
    try:
        out.backward()
    except RuntimeError as error:
        print(f"BUG: eager's gradient is {expected}, compiled: RuntimeError: {str(error)[:70]}...")
        raise SystemExit(1) from None
    bug = not torch.equal(expected, model.w.grad)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, compiled {model.w.grad}")
    raise SystemExit(bug)
