# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD002"
# title = "torch.compile: error in the second call of an op whose out= tensor has to be resized"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an out= that has to be resized, of which eager warns"
# topics = ["in-place", "dynamic-sizes"]
# cause = """
# Dynamo wants to break the graph in this case ("Shape mismatch with out= tensor variant"), but asks only
# after the fake kernel has run. In the second call the sizes are symbolic, and the fake kernel cannot resize
# such a tensor: "tried to directly modify sizes for customized tensor". It should break the
# graph then as well."""
# path = "compile:compiled@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     ["guards", "crash", "served", "run",
#      "TorchRuntimeError", "tried to directly modify sizes for customized tensor"],
# ]
# fix = "out_of_dynamic_size_breaks_graph"
# upstream = ""
# at-fault = "torch/_dynamo/variables/torch.py, call_function: out= is looked at after the fake call"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""An operator with `out=` gets a tensor that it must resize. Eager warns and resizes it, torch.compile
raises.

Dynamo wants to break the graph in this case ("Shape mismatch with out= tensor variant"), but asks only after
the fake kernel has run. In the second call the sizes are symbolic, and the fake kernel cannot resize such a
tensor: "tried to directly modify sizes for customized tensor". It should break the graph then, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ones", torch.ones(2, 3))

    def forward(self, x):
        columns = x.shape[1]
        return torch.cat([self.ones], 0, out=x) * columns


def make():
    return Model(), (torch.zeros(2, 3),)


def show():
    model, args = make()
    model.compile(backend="eager")
    model(*args)
    model(torch.zeros(2, 4))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.TorchRuntimeError as error:
        sys.exit(f"BUG: eager resizes x, torch.compile gives {type(error).__name__}")
    print("ok: eager resizes x, torch.compile gives what eager gives")
