# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD318"
# title = "_swap_modules: TypeError for a buffer called module_call_graph"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a buffer called module_call_graph, in a program whose modules are swapped"
# topics = ["names", "buffers"]
# cause = """
# The module that `_swap_modules` returns has the state of the model, and a list of its own called
# `module_call_graph`: "cannot assign 'list' as buffer". The list should have a private name."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "_swap.py:_swap_modules"]]
# fix = "swap_keeps_calls_under_private_name"
# upstream = ""
# at-fault = "torch/export/_swap.py, _swap_modules: gm.module_call_graph = ep.module_call_graph"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a buffer `module_call_graph` can be exported. `_swap_modules` raises TypeError.

The module that `_swap_modules` returns has the state of the model, and a list of its own called
`module_call_graph`: "cannot assign 'list' as buffer". The list should have a private name.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.nn.ReLU()
        self.register_buffer("module_call_graph", torch.ones(1))

    def forward(self, x):
        return self.child(x) + self.module_call_graph


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), _swap_modules(ep, {"child": model.child})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, _swap_modules raises {error!r}")
    print(f"ok: eager returns {expected}, with the child swapped {got!r}")
