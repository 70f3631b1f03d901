# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD248"
# title = "unflatten: AttributeError if a preserved submodule is an nn.Identity"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an nn.Identity among the preserved submodules"
# topics = ["unused-results"]
# cause = """
# nn.Identity leaves no node in the graph, so that unflatten makes no module for it. `_dispatch_modules`
# expects a module for each preserved call."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#     ],
# ]
# fix = "unflatten_dispatches_calls_it_has"
# upstream = "https://github.com/pytorch/pytorch/pull/141066"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: _get_attr"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An nn.Identity has a preserved signature. unflatten raises AttributeError.

nn.Identity leaves no node in the graph, so that unflatten makes no module for it. `_dispatch_modules` expects
a module for each preserved call.
"""

import sys

import torch


def make():
    return torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU()), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0",))
    return model(*args), torch.export.unflatten(ep)(*args)


def workaround_options():
    """Preserve only the signatures of modules that compute something."""
    return {"preserve_module_call_signature": ("1",)}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
