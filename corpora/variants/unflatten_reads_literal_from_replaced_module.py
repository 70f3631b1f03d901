# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: RuntimeError once a submodule with a tensor literal, called under no_grad, is replaced"
# variant-of = "unflatten_passes_global_tensor_as_argument"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Node referenced nonexistent target"]]
# fix = "literals_are_named_after_all_readers"
# upstream = ""
# at-fault = "torch/_export/passes/lift_constants_pass.py, get_constant_fqn: not the module of the region"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The tensor is called `child.lifted_tensor_0`, but it is the root that reads it, and hands it to the region.

An eager module in the place of the child has no such attribute: "Node referenced nonexistent target".
"""

import sys

import torch


class Child(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x * self.weight * torch.tensor(2.0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        with torch.no_grad():
            return self.child(x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    unflattened = torch.export.unflatten(ep)
    unflattened.child = model.child
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "nonexistent target child.lifted_tensor_0" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error}")
    print(f"ok: eager gives {expected}, unflatten {got}")
