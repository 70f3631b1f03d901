# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: AssertionError for a preserved nn.Identity in a module that computes nothing"
# variant-of = "unflatten_fails_on_preserved_call_without_node"
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#     ],
# ]
# fix = "unflatten_dispatches_calls_it_has"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: _get_attr"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An nn.Identity has a preserved signature, and its parent does nothing else. unflatten raises
AssertionError.

Neither leaves a node in the graph, so that unflatten makes no module for them. `_dispatch_modules` expects a
module for each preserved call.
"""

import sys

import torch
from torch import nn


def make():
    return nn.Sequential(nn.Sequential(nn.Identity()), nn.ReLU()), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0.0",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
