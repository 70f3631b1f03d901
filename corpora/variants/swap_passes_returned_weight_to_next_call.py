# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a preserved submodule that returns its weight gets it as an argument in its second call"
# variant-of = "unflatten_passes_returned_weight_for_input"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError", "takes positional arguments but were given"]]
# fix = "unflatten_sinks_arguments_by_place"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _sink_params: n.name not in module_id_to_inputs_removed"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child returns its weight, and is called twice. It cannot be replaced, since its second call
gets one more argument.

After the first call, the weight is a result of this call and has another name. `_sink_params` removes state
from the arguments by name, and does not find it.
"""

import sys

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return x * self.weight, self.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        square, _ = self.scale(self.scale.weight)
        return self.scale(x)[0] + square


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("scale",))
    unflattened = torch.export.unflatten(program)
    unflattened.scale = model.scale
    unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        if "positional arguments" not in str(error):
            raise
        sys.exit(f"BUG: with the child replaced by eager's, the program raises {error!r:.100}")
    print("ok: with the child replaced by eager's, the program raises nothing")
