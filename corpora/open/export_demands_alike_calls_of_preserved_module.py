# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD082"
# title = "preserve_module_call_signature: AssertionError if the calls of a submodule have different keywords"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule called with and without a keyword"
# topics = ["arguments", "shared-modules"]
# cause = """
# Each call has its own signature in the exported program (`child`, `child@1`). While export traces,
# `update_module_call_signatures` stores one signature per submodule and asserts that all calls agree. It
# should store one per call."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "_symbolic_trace.py:forward",
#         "wrappers.py:post_hook",
#         "wrappers.py:update_module_call_signatures",
#     ],
# ]
# fix = "calls_of_preserved_module_have_specs_of_their_own"
# upstream = "https://github.com/pytorch/pytorch/pull/137999"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/wrappers.py, update_module_call_signatures"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One call of the submodule passes `n` as a keyword, the other does not pass it: AssertionError.

Each call has its own signature in the exported program (`child`, `child@1`). While export traces,
`update_module_call_signatures` stores one signature per submodule and asserts that all calls agree. It should
store one per call.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x, n=1):
        return x + n


class Model(nn.Module):
    def forward(self, x):
        return self.child(self.child(x), n=2)


def make():
    model = Model()
    model.child = Child()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, preserve_module_call_signature=("child",))


def make_workaround():
    """Pass the keyword in each call."""

    class Passing(Model):
        def forward(self, x):
            return self.child(self.child(x, n=1), n=2)

    model = Passing()
    model.child = Child()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "TreeSpec(" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
