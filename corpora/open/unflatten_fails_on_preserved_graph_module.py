# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD249"
# title = "unflatten: ValueError if a preserved submodule is a torch.fx.GraphModule"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule that torch.fx has traced"
# topics = ["graph-modules"]
# cause = """
# A GraphModule gets no entry in nn_module_stack, but its call is preserved. `CollectTracepointsPass` removes
# the last entry from the stacks of nodes after a preserved call, here that of the root, which unflatten
# needs."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "ValueError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_fix_nn_module_stacks",
#     ],
# ]
# fix = "preserve_no_call_of_graph_module"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _non_strict_export: preserves calls that no module stack has"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule is a torch.fx.GraphModule. unflatten raises ValueError.

A GraphModule gets no entry in nn_module_stack, but its call is preserved. `CollectTracepointsPass` removes
the last entry from the stacks of nodes after a preserved call, here that of the root, which unflatten needs.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return self.child(x) * 2


def make():
    model = Model()
    model.child = torch.fx.symbolic_trace(torch.nn.Tanh())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("child",))
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Keep the module itself in the model, not its GraphModule."""
    model = Model()
    model.child = torch.nn.Tanh()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
