# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD245"
# title = "unflatten: SyntaxError for a preserved module that updates its keyword argument twice"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a preserved module, decomposed, that updates an input in place which it gets by keyword"
# topics = ["arguments", "in-place", "names"]
# cause = """
# The second call gets the new total for its keyword, and also the model's input `total`, to write to.
# `_ModuleFrame.add_placeholder` gives both the name `total`: "duplicate argument 'total' in function
# definition"."""
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "SyntaxError",
#      "unflatten.py:_sink_params", "unflatten.py:_sink_params", "unflatten.py:finalize"],
# ]
# fix = "unflatten_names_inputs_apart_from_keywords"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.add_placeholder: graph.placeholder(x.name)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved module adds to `total`, its keyword argument, twice. Decomposed, it cannot be unflattened:
SyntaxError.

The second call gets the new total for its keyword, and also the model's input `total`, to write to.
`_ModuleFrame.add_placeholder` gives both the name `total`: "duplicate argument 'total' in function
definition".
"""

import sys

import torch
from torch import nn


class Adder(nn.Module):
    def forward(self, x, total):
        return total.add_(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.adder = Adder()

    def forward(self, x, total):
        self.adder(x, total=total)
        return self.adder(x, total=total) * 2


def make():
    return Model(), (torch.ones(2), torch.zeros(2))


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("adder",)).run_decompositions()
    return model(*make()[1]), torch.export.unflatten(program)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except SyntaxError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
