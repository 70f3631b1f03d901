# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: ValueError for a decomposed program that updates a parameter"
# variant-of = "unflatten_gives_running_mean_a_history"
# path = "nonstrict+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "ValueError", "_pytree.py:tree_unflatten"]]
# unmasked = [["structure", "mismatch", "steps", "extra", "operator"]]
# fix = "unflatten_writes_back_to_parameters"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations: buffers and inputs only"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model adds 1 to a parameter under no_grad. Decomposed and unflattened, it has one output too many.

A decomposed program returns new values of state before its outputs. `_inplace_buffer_and_input_mutations`
writes those of buffers and inputs back, and forgets `parameters_to_mutate`. The parameter keeps its old
value, and its new value is taken for an output.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        with torch.no_grad():
            self.w.add_(1)
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    module = torch.export.unflatten(torch.export.export(model, args).run_decompositions())
    return model(*args), module(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error}")
    print(f"ok: eager gives {expected}, unflatten {got}")
