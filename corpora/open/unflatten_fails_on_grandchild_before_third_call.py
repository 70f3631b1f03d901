# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD320"
# title = "unflatten: AssertionError if a grandchild is called directly between calls of a module"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a module called three times, and its grandchild called directly between"
# topics = ["shared-modules", "unused-results"]
# cause = """
# The first call of `outer` leaves no node, as its result is unused. For the direct call, `_add_submodule`
# therefore creates a module `outer` as a parent for `inner.same`. The third call of `outer` finds this
# module, and `_ModuleFrame.__init__` replaces its children by those of the second call, so that `inner` is
# gone. `_sink_params` then raises "Attribute 'inner' not found in model". `_ModuleFrame` should leave such a
# module as it is."""
# path = "nonstrict:unflatten@cpu"
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
#         "unflatten.py:_sink_params",
#     ],
# ]
# fix = "unflatten_leaves_created_module"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _ModuleFrame.__init__: _modules are those of an earlier call"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`outer` is called three times, and before the third call `outer.inner.same` is called directly: unflatten
fails.

The first call of `outer` leaves no node, as its result is unused. For the direct call, `_add_submodule`
therefore creates a module `outer` as a parent for `inner.same`. The third call of `outer` finds this module,
and `_ModuleFrame.__init__` replaces its children by those of the second call, so that `inner` is gone.
`_sink_params` then raises "Attribute 'inner' not found in model". `_ModuleFrame` should leave such a module
as it is.
"""

import sys
import traceback

import torch
from torch import nn


class Outer(nn.Module):
    def forward(self, x):
        return self.first(x)


class Model(nn.Module):
    def forward(self, x):
        self.outer(x)
        x = self.outer(x)
        x = self.outer.inner.same(x + 1)
        return self.outer(x)


def make():
    model = Model()
    model.outer = Outer()
    model.outer.inner = nn.Module()
    model.outer.first = model.outer.inner.same = nn.ReLU()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        if "_sink_params" not in [frame.name for frame in traceback.extract_tb(error.__traceback__)]:
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
