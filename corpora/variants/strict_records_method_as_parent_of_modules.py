# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True), unflatten: AttributeError after model.forward = model.encode"
# variant-of = "strict_misnames_modules_in_containers"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "AttributeError", "unflatten.py:run_from", "unflatten.py:__init__",
#         "graph.py:call_module"],
#     ["structure", "mismatch", "calls", "unknown"],
# ]
# fix = "strict_names_modules_as_registered"
# upstream = ""
# at-fault = "torch/export/_trace.py, _strict_export: keeps 'forward.__self__' in the paths of modules"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model is exported after `model.forward = model.encode`. In strict mode, the program cannot be
unflattened: "`forward` is not an nn.Module".

In strict mode, Dynamo reaches the submodules through the bound method. So it records the path of `child` as
`forward.__self__.child`, and unflatten looks for a submodule called `forward`. `_strict_export` should record
the names that the model has for its modules. torch 2.11 did so.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = nn.Linear(3, 3)

    def encode(self, x):
        return self.child(x)


def make():
    model = Model()
    model.forward = model.encode
    return model, (torch.ones(2, 3),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True)
    return model(*args), torch.export.unflatten(program)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print("ok: neither eager nor unflatten raises")
