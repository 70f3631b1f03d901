# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() fails on state named range_constraints"
# variant-of = "module_fails_on_buffer_named_graph"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "_unlift.py:_create_stateful_graph_module"]]
# unmasked = [["outputs", "crash", "lower", "UserError"]]
# fix = "module_keeps_range_constraints_under_private_name"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/_unlift.py, _StatefulGraphModule.__init__: range_constraints"
# ///
"""A model with a buffer named `range_constraints` is exported, and `ep.module()` raises TypeError.

What `ep.module()` returns keeps a list under that name, beside the state of the model, to check inputs with.
It is assigned when the state is there: "cannot assign 'list' as buffer".
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("range_constraints", torch.ones(1))

    def forward(self, x):
        return x + self.range_constraints


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    ep = torch.export.export(*make())
    try:
        ep.module()
        error = None
    except TypeError as caught:
        error = caught
    print(f"BUG: ep.module() raises {error!r}" if error else "ok: ep.module() works")
    raise SystemExit(error is not None)
