# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD321"
# title = "unflatten: AssertionError for a no_grad block in a module whose first call computes nothing"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a no_grad block in a module whose first call returns its input"
# topics = ["shared-modules", "no-grad"]
# cause = """
# The first call leaves no node, so that only the second one, `outer@1`, exists. The body of the no_grad block
# belongs to `outer@1.0@1`, but `_copy_graph_attrs` looks for it at `outer.0@1`. This works if the calls share
# their children, which they do through the first call. It should look at the name that the module has."""
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
#         "unflatten.py:_copy_graph_attrs",
#     ],
# ]
# fix = "unflatten_keys_graph_attributes_by_module"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _copy_graph_attrs: looks for the region at outer.0@1"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The first call of `outer` returns its input, the second one runs a no_grad block: unflatten fails an
assertion.

The first call leaves no node, so that only the second one, `outer@1`, exists. The body of the no_grad block
belongs to `outer@1.0@1`, but `_copy_graph_attrs` looks for it at `outer.0@1`. This works if the calls share
their children, which they do through the first call. It should look at the name that the module has.
"""

import sys
import traceback

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        if x.dim() == 0:
            return x
        with torch.no_grad():
            return x + 1


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(x[0]) + self.outer(x)


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
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
        if "_copy_graph_attrs" not in [frame.name for frame in traceback.extract_tb(error.__traceback__)]:
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
