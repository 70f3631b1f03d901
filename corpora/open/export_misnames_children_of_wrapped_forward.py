# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD140"
# title = "unflatten: AttributeError for a preserved module with wrapped forward, if a module has two names"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a forward that was wrapped, in a model in which any module has two names"
# topics = ["names", "shared-modules"]
# cause = """
# If any module has two names, the tracer replaces modules by proxies, to see by which name each is read. The
# wrapped forward is a method of the real `block`, and `_ModuleStackTracer.getattr` records what it reads as
# if it were read from the root: `act` instead of `block.act`."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#     ],
# ]
# fix = "children_of_wrapped_forward_keep_names"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, _ModuleStackTracer.getattr: proxy_type(attr_val, attr)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule has a wrapped forward, and another module has two names. unflatten raises
AttributeError.

If any module has two names, the tracer replaces modules by proxies, to see by which name each is read. The
wrapped forward is a method of the real `block`, and `_ModuleStackTracer.getattr` records what it reads as if
it were read from the root: `act` instead of `block.act`.
"""

import functools
import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(x) + 1


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.block.forward = functools.partial(self.block.forward)
        self.relu = nn.ReLU()
        self.same = self.relu

    def forward(self, x):
        return self.relu(self.block(self.same(x)))


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    names = ("block", "block.act")
    ep = torch.export.export(model, args, preserve_module_call_signature=names)
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Leave the forward of the submodule as it is."""

    class Plain(Model):
        def __init__(self):
            nn.Module.__init__(self)
            self.block = Block()
            self.relu = nn.ReLU()
            self.same = self.relu

    return Plain(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error}")
    print(f"ok: eager gives {expected}, unflatten {got}")
