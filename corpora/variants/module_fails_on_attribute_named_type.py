# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() and unflatten fail on a tensor attribute with the name of a method of nn.Module"
# variant-of = "module_fails_on_buffer_named_graph"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "KeyError"]]
# fix = "graph_module_copies_attributes_named_as_methods"
# upstream = ""
# at-fault = "torch/fx/graph_module.py, _copy_attr: makes a buffer of every tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a tensor attribute `type` is exported, and `ep.module()` raises KeyError.

nn.Module has a method of that name; a plain attribute may hide it, a buffer may not. When a GraphModule is
made, _copy_attr registers each tensor attribute as a buffer.
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


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: ep.module() raises {error!r}")
    print("ok: ep.module() works")
