# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD309"
# title = "ep.module() and unflatten: KeyError for a tensor attribute called type"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a tensor attribute called type, half or cpu, as methods of nn.Module are"
# topics = ["names", "constants"]
# cause = """
# nn.Module has a method `type`. A plain attribute may have that name, a buffer may not. `_copy_attr` in
# torch/fx/graph_module.py registers every tensor attribute as a buffer. It should set a plain attribute
# here."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "KeyError"]]
# fix = "graph_module_copies_attributes_named_as_methods"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/graph_module.py, _copy_attr: makes a buffer of every tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a plain tensor attribute `type` can be exported, but `ep.module()` raises KeyError.

nn.Module has a method `type`. A plain attribute may have that name, a buffer may not. `_copy_attr` in
torch/fx/graph_module.py registers every tensor attribute as a buffer. It should set a plain attribute here.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.type = torch.ones(1)

    def forward(self, x):
        return x + self.type


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.module()


def make_workaround():
    """Give the attribute another name."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.kind = torch.ones(1)

        def forward(self, x):
            return x + self.kind

    return Renamed(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: ep.module() raises {error!r}")
    print("ok: ep.module() works")
