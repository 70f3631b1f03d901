# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD119"
# title = "torch.export of a GraphModule: operators of nested modules are recorded under their parent"
# harm = "cosmetic"
# reach = "contrived"
# reach-because = "a torch.fx graph that calls a module with children, exported, and read by module"
# topics = ["graph-modules", "names"]
# cause = """
# For a GraphModule, `_ModuleStackTracer.create_node` keeps the module stack of the node that the Interpreter
# runs. This node is the call of `block`, so that the stack ends there. It should add the modules that are
# called below. Exported without torch.fx, the model has both names."""
# path = "nonstrict:module@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# undetected-because = "unflatten fails on the same program for another reason, and hides it"
# fix = "calls_below_those_of_a_graph_are_recorded"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, _ModuleStackTracer.create_node: nn_module_stack is None"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model calls `block`, which calls `block.linear`. Exported from a GraphModule, all operators are
recorded under `block`.

For a GraphModule, `_ModuleStackTracer.create_node` keeps the module stack of the node that the Interpreter
runs. This node is the call of `block`, so that the stack ends there. It should add the modules that are
called below. Exported without torch.fx, the model has both names.
"""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)

    def forward(self, x):
        return self.linear(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x) + 1


class Tracer(torch.fx.Tracer):
    def is_leaf_module(self, module, name):
        return True


def make():
    torch.manual_seed(0)
    return torch.fx.GraphModule(model := Model(), Tracer().trace(model)), (torch.ones(2, 1),)


def modules(model, args):
    """Return the modules that the exported graph names."""
    graph = torch.export.export(model, args, strict=False).graph
    stacks = (node.meta.get("nn_module_stack", {}).values() for node in graph.nodes)
    return sorted({path for stack in stacks for path, _ in stack if path})


def show():
    graph_module, args = make()
    return modules(Model(), args), modules(graph_module, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the model calls {expected}, the exported graph names {got}")
    raise SystemExit(bug)
