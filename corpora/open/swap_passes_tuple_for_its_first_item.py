# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD226"
# title = "_swap_modules: a new module gets the tuple of the module before, instead of the tensor in it"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "two modules swapped by _swap_modules: attention that returns (values, None), and dropout"
# topics = ["containers", "attention"]
# cause = """
# `_try_remove_connecting_pytrees` passes the result of one module directly to the next if the flat values are
# the same. It should also ask whether both sides have the same structure."""
# path = "nonstrict+preserve+swapped:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError", "dropout.py:forward"]]
# fix = "swap_passes_results_out_of_tuples"
# upstream = "https://github.com/pytorch/pytorch/pull/136191"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_swap.py, _try_remove_connecting_pytrees"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`attention` returns a tensor and None, and the model passes the tensor to `dropout`. If both are swapped
for themselves, `dropout` gets the tuple.

`_try_remove_connecting_pytrees` passes the result of one module directly to the next if the flat values are
the same. It should also ask whether both sides have the same structure.
"""

import sys

import torch
from torch.export._swap import _swap_modules


class Attention(torch.nn.Module):
    def forward(self, x):
        return x + 1, None


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.dropout = torch.nn.Dropout()

    def forward(self, x):
        return self.dropout(self.attention(x)[0])


def make():
    return Model().eval(), (torch.ones(1),)


def show():
    model, args = make()
    names = ("attention", "dropout")
    ep = torch.export.export(model, args, preserve_module_call_signature=names)
    swapped = _swap_modules(ep, {name: model.get_submodule(name) for name in names})
    return model(*args), swapped(*args)


def make_workaround():
    """Return only the tensor that the next module takes."""

    class Single(Attention):
        def forward(self, x):
            return x + 1

    class Passing(Model):
        def __init__(self):
            super().__init__()
            self.attention = Single()

        def forward(self, x):
            return self.dropout(self.attention(x))

    return Passing().eval(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, the swapped program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the swapped program: {got}")
