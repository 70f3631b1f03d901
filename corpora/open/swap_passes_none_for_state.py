# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD223"
# title = "_swap_modules: the new module gets None for an argument that is a buffer of its parent"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a module swapped by _swap_modules that is called with a buffer, such as a mask"
# topics = ["buffers", "arguments"]
# cause = """
# In the exported program, the buffer is an input called `b_table`, and the signature of the call has this
# name. In `ep.module()`, the node that reads the buffer is called `table`. `_construct_inputs` does not find
# `b_table`, and passes None."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError"]]
# fix = "swap_passes_state_to_modules"
# upstream = ""
# at-fault = "torch/export/_swap.py, _swap_module_helper: node_name_map"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The child takes a buffer of its parent as argument. If it is swapped for itself, it is called with None:
TypeError.

In the exported program, the buffer is an input called `b_table`, and the signature of the call has this name.
In `ep.module()`, the node that reads the buffer is called `table`. `_construct_inputs` does not find
`b_table`, and passes None.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Child(torch.nn.Module):
    def forward(self, table):
        return table + 1


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.register_buffer("table", torch.ones(1))

    def forward(self, x):
        return x + self.child(self.table)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    _swap_modules(ep, {"child": model.child})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: with the child swapped for itself, the program raises {error!r}")
    print("ok: with the child swapped for itself, the program raises nothing")
