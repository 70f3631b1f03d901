# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a decomposed program: RuntimeError if a preserved module updates a tensor three times"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "aten Expected value of type for argument but"]]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = "https://github.com/pytorch/pytorch/pull/149206"
# upstream-match = "place"
# at-fault = "torch/export/unflatten.py, _IVals.update: n.name in node_names"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved module is called three times and updates its argument in place. Decomposed and unflattened, it
raises RuntimeError.

Each call computes a new value, which `_IVals.update` writes to the updated tensor. It finds the node by its
name in the program, but the graph of a call has names of its own: an input of the second call has the name of
the value that the first computes.
"""

import sys

import torch


class Halve(torch.nn.Module):
    def forward(self, x):
        x.div_(2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.halve = Halve()

    def forward(self, x):
        for _ in range(3):
            self.halve(x)
        return x * 2


def make():
    return Model(), (torch.full((1,), 5.0),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("halve",))
    torch.export.unflatten(ep)(*make()[1])
    unflattened = torch.export.unflatten(ep.run_decompositions())
    return model(*make()[1]), unflattened(*make()[1])


def make_workaround():
    """Return a new tensor from the submodule, and copy the last one to the input."""

    class Dividing(Halve):
        def forward(self, x):
            return x / 2

    class Copying(Model):
        def __init__(self):
            super().__init__()
            self.halve = Dividing()

        def forward(self, x):
            y = x
            for _ in range(3):
                y = self.halve(y)
            x.copy_(y)
            return y * 2

    return Copying(), (torch.full((1,), 5.0),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager returns {expected}, unflatten: {got}")
