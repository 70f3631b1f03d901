# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: ValueError for a program that returns the number of elements of x[::2]"
# variant-of = "unflatten_fails_on_view_of_mutated_input"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "ValueError", "unflatten.py:unflatten", "unflatten.py:__init__",
#         "unflatten.py:_fix_nn_module_stacks",
#     ],
# ]
# fix = "unflatten_roots_nodes_of_no_module"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _fix_nn_module_stacks: prev_fqn, *next_fqns = fqns"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns the dynamic size of `x[::2]`. The program runs, and cannot be unflattened.

The nodes that compute this size are made after forward, for the output. Their nn_module_stack is empty, and
`_fix_nn_module_stacks` takes the first entry of each stack.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[::2].shape[0]


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return ({0: torch.export.Dim.DYNAMIC},)


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*args), torch.export.unflatten(program)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        if "not enough values to unpack" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the unflattened module raises {type(error).__name__}")
    print(f"ok: eager gives {expected}, the unflattened module {got}")
