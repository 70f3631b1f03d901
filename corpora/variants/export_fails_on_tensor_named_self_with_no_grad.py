# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: SyntaxError for a tensor attribute called self in a model with torch.no_grad"
# variant-of = "unflatten_fails_on_child_named_self"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "SyntaxError"]]
# fix = "fx_names_no_node_self"
# upstream = ""
# at-fault = "torch/fx/graph.py, emit_node in _gen_python_code: writes a placeholder self behind self"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model has a tensor attribute called `self` and a no_grad block. Export raises SyntaxError.

Export splits the graph at the block. A part of it gets the tensor as an input called `self`, and its code
begins with `def forward(self, self, add)`. `_gen_python_code` should not give an input this name.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = x + 1
        return y + self.self


def make():
    model = Model()
    model.self = torch.zeros(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except SyntaxError as error:
        sys.exit(f"BUG: eager raises nothing, torch.export raises {error!r}")
    print(f"ok: eager gives {expected}, torch.export: {got!r}")
