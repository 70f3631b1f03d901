# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: wrong result if a preserved submodule is a torch.compile module"
# variant-of = "unflatten_fails_on_preserved_graph_module"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError"]]
# fix = "preserve_no_call_of_graph_module"
# upstream = ""
# at-fault = "torch/_export/passes/collect_tracepoints_pass.py, CollectTracepointsPass.call: popitem"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A block calls its compiled layer twice. With the layer preserved, the unflattened model gives a wrong
result.

A compiled module gets no entry in nn_module_stack. `CollectTracepointsPass` removes the last entry from the
stacks of nodes after a preserved call, here that of the block. unflatten takes these nodes for a second call
of the block, and runs the first graph again.
"""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.compile(nn.Linear(2, 2), backend="eager")
        self.norm = nn.Linear(2, 2)

    def forward(self, x):
        return self.norm(self.layer(x)) + self.layer(x * 2)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x * 3)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("block.layer",))
    return model(*args), torch.export.unflatten(program)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, unflatten {got.tolist()}")
    raise SystemExit(bug)
