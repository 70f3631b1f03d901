# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD239"
# title = "torch.compile of an unflattened module: AttributeError if a submodule is called self"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "the attention of BERT has a child called self: torch.compile of unflatten fails"
# evidence = ["zoo:transformers/bert"]
# topics = ["names", "attention"]
# cause = """
# The node that calls a child has the name of the child. The code of the graph is a method, so that it reads
# `self = self.self(x)`, then `output = self.output(self)`, where self is a tensor. `Graph.python_code` should
# not give a node the name self. Without torch.compile, unflatten runs the graph with an interpreter, and is
# right."""
# path = "nonstrict+generated:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "AttributeError", "object has no attribute"]]
# fix = "fx_names_no_node_self"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/graph.py, Graph.python_code: namespace = _Namespace(), without root_module"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An attention has the children `self` and `output`, as in BERT. torch.compile of the unflattened model
raises AttributeError.

The node that calls a child has the name of the child. The code of the graph is a method, so that it reads
`self = self.self(x)`, then `output = self.output(self)`, where self is a tensor. `Graph.python_code` should
not give a node the name self. Without torch.compile, unflatten runs the graph with an interpreter, and is
right.
"""

import sys

import torch


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.self = torch.nn.ReLU()
        self.output = torch.nn.Tanh()

    def forward(self, x):
        return self.output(self.self(x))


def make():
    return torch.nn.Sequential(Attention()), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args), torch.compile(unflattened, backend="eager")(*args)


def make_workaround():
    """Give the child another name than self."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = torch.nn.ReLU()
            self.output = torch.nn.Tanh()

        def forward(self, x):
            return self.output(self.attention(x))

    return torch.nn.Sequential(Renamed()), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, torch.compile of unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, {got}")
