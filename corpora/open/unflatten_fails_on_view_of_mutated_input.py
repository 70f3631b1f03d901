# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD254"
# title = "unflatten: ValueError for a decomposed program that returns a view of an input that it updates"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "nn.LSTMCell and nn.GRUCell; a view of an input that was updated in place; decomposed"
# evidence = ["zoo:module_db/nn.LSTMCell", "zoo:module_db/nn.GRUCell"]
# topics = ["in-place", "views", "recurrent"]
# cause = """
# The decomposed program makes this view again at its end, in a node with an empty nn_module_stack.
# `_fix_nn_module_stacks` takes the first entry of each stack."""
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
"""The model updates its input and returns a view of it. Decomposed, it cannot be unflattened: ValueError.

The decomposed program makes this view again at its end, in a node with an empty nn_module_stack.
`_fix_nn_module_stacks` takes the first entry of each stack.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.relu_()
        return x[0]


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args).run_decompositions()
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Return a copy of the view."""

    class Copying(Model):
        def forward(self, x):
            x.relu_()
            return x[0].clone()

    return Copying(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
