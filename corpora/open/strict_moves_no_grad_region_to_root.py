# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD208"
# title = "unflatten of a strict export: skips operators before a no_grad block in a submodule"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "a submodule with a no_grad block: unflatten skips operators"
# evidence = ["zoo:transformers/llama", "zoo:transformers/falcon"]
# topics = ["no-grad"]
# cause = """
# Dynamo makes the nodes at both ends of the block with `create_node`, which records no nn_module_stack. So
# export records the block under the root, between two parts of the submodule. unflatten makes a module of
# each part, and the second replaces the first. The nodes should have the stack of the submodule."""
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape"]]
# fix = "nodes_of_regions_have_module_stack"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/output_graph.py, OutputGraph.create_node, which records no nn_module_stack"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A submodule computes `x * 3`, then `x + 1` under no_grad. Unflattened after strict export, it does not
multiply.

Dynamo makes the nodes at both ends of the block with `create_node`, which records no nn_module_stack. So
export records the block under the root, between two parts of the submodule. unflatten makes a module of each
part, and the second replaces the first. The nodes should have the stack of the submodule.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, x):
        x = x * 3  # first difference
        with torch.no_grad():
            return x + 1


def make():
    return nn.Sequential(Child()), (torch.ones(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return model(*args), unflattened(*args)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
