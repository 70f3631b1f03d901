# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD263"
# title = "unflatten: passes a global tensor as an argument to the second preserved submodule that reads it"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "two preserved submodules that read one global tensor; one of them is replaced"
# topics = ["constants"]
# cause = """
# `lift_constants_pass` makes a constant of the tensor, and names it after the first module that reads it:
# `first.lifted_tensor_0`. unflatten passes it to `second` as an argument, against its preserved signature."""
# path = "nonstrict+preserve+swap_one:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "TypeError", "takes positional arguments but were given"],
# ]
# fix = "literals_are_named_after_all_readers"
# upstream = "https://github.com/pytorch/pytorch/pull/115222"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/lift_constants_pass.py, get_constant_fqn: names the first reader only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two preserved submodules read one global tensor. The second cannot be replaced, since unflatten passes it
two arguments.

`lift_constants_pass` makes a constant of the tensor, and names it after the first module that reads it:
`first.lifted_tensor_0`. unflatten passes it to `second` as an argument, against its preserved signature.
"""

import sys

import torch

SCALE = torch.tensor(2.0)


class Child(torch.nn.Module):
    def forward(self, x):
        return x * SCALE


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Child(), Child()

    def forward(self, x):
        return self.second(self.first(x))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("first", "second"))
    unflattened = torch.export.unflatten(ep)
    unflattened.second = model.second
    return model(*args), unflattened(*args)


def make_workaround():
    """Make the tensor a buffer of each submodule."""

    class Owning(Child):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.tensor(2.0), persistent=False)

        def forward(self, x):
            return x * self.scale

    model = Model()
    model.first, model.second = Owning(), Owning()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        if "takes 2 positional arguments but 3 were given" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")
