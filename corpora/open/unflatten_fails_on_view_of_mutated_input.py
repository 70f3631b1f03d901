# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD254"
# title = "unflatten: ValueError for a decomposed program that returns a view of a tensor updated in place"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "nn.GRUCell and nn.LSTMCell without a batch, decomposed and unflattened"
# evidence = ["zoo:module_db/nn.LSTMCell", "zoo:module_db/nn.GRUCell"]
# topics = ["in-place", "views", "recurrent"]
# cause = """
# GRUCell updates its result in place, and returns a view of it. The decomposed program makes this view again
# at its end, in a node with an empty nn_module_stack. `_fix_nn_module_stacks` takes the first entry of each
# stack."""
# path = "nonstrict+decompose:unflatten@cpu"
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
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _fix_nn_module_stacks: prev_fqn, *next_fqns = fqns"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""nn.GRUCell gets an input without a batch. Decomposed, its program cannot be unflattened: ValueError.

GRUCell updates its result in place, and returns a view of it. The decomposed program makes this view again at
its end, in a node with an empty nn_module_stack. `_fix_nn_module_stacks` takes the first entry of each stack.
"""

import sys

import torch


def make():
    torch.manual_seed(0)
    return torch.nn.GRUCell(1, 1), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args).run_decompositions()
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Return a copy of the view."""

    class Copying(torch.nn.GRUCell):
        def forward(self, x):
            return super().forward(x).clone()

    torch.manual_seed(0)
    return Copying(1, 1), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
