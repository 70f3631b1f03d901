# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD250"
# title = "unflatten: RuntimeError if a preserved submodule returns a weight or buffer that it does not use"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule that returns its weight, as for a loss, and does not use it"
# topics = ["tied-weights"]
# cause = """
# The weight is an input of the program. `finalize_outputs` looks for each output among the nodes of the
# module and the inputs that these read, and no node of the module reads the weight."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "unflatten.py:finalize_outputs",
#         "unflatten.py:<genexpr>",
#         "unflatten.py:get_actual_output_node",
#     ],
# ]
# fix = "unflatten_returns_parameters_of_module"
# upstream = "https://github.com/pytorch/pytorch/pull/128260"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.finalize_outputs: get_actual_output_node"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child returns its weight, and does not read it. unflatten raises RuntimeError: "Could not find
output node p_0_weight".

The weight is an input of the program. `finalize_outputs` looks for each output among the nodes of the module
and the inputs that these read, and no node of the module reads the weight.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + 1, self.weight


def make():
    child = Child()
    child.weight = torch.nn.Parameter(torch.ones(1))
    return torch.nn.Sequential(child), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0",))
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Return a copy of the parameter."""

    class Copying(Child):
        def forward(self, x):
            return x + 1, self.weight.clone()

    child = Copying()
    child.weight = torch.nn.Parameter(torch.ones(1))
    return torch.nn.Sequential(child), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")
