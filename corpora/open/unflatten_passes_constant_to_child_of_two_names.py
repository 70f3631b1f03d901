# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD262"
# title = "unflatten: a preserved submodule with two names gets its own tensor attribute as an argument"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a preserved submodule of two names with a tensor attribute"
# topics = ["constants", "shared-modules"]
# cause = """
# `_gather_constant_attrs` uses `named_children()`, which yields a module with two names once. So the tensor
# is known as `child.scale` only, and for `other` unflatten passes it as an argument."""
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "TypeError", "takes positional arguments but were given"],
# ]
# fix = "gather_constants_under_all_names"
# upstream = ""
# at-fault = "torch/_export/non_strict_utils.py, _gather_constant_attrs: named_children()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child has two names and a plain tensor attribute. It cannot be replaced, since unflatten passes
it two arguments.

`_gather_constant_attrs` uses `named_children()`, which yields a module with two names once. So the tensor is
known as `child.scale` only, and for `other` unflatten passes it as an argument.
"""

import sys

import torch


class Child(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(1)

    def forward(self, x):
        return x * self.scale


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.other = self.child

    def forward(self, x):
        return self.other(x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("other",))
    unflattened = torch.export.unflatten(ep)
    unflattened.other = model.other
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")
