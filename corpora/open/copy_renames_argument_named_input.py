# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD039"
# title = "copy.deepcopy(ep): an argument called input is called input_1 in the graph, not in the signature"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "an argument called input: the copy contradicts its own signature"
# evidence = ["zoo:module_db/nn.Linear"]
# topics = ["names", "copies"]
# cause = """
# `Graph.__deepcopy__` makes nodes with `create_node`, which renames nodes that have the name of a Python
# builtin. torch.export gives inputs the names of arguments, whatever they are. The copy should keep the
# names. PyTorch PR 133269 corrects this for one experimental function only."""
# path = "nonstrict+deepcopy:module@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "signature", "inputs"]]
# fix = "graph_copies_keep_names"
# upstream = "https://github.com/pytorch/pytorch/pull/133269"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/graph.py, Graph.__deepcopy__: makes nodes by create_node, which renames them"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The graph of a program has the input `input`. In a deep copy it is `input_1`, but the signature still says
`input`.

`Graph.__deepcopy__` makes nodes with `create_node`, which renames nodes that have the name of a Python
builtin. torch.export gives inputs the names of arguments, whatever they are. The copy should keep the names.
PyTorch PR 133269 corrects this for one experimental function only.
"""

import copy
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, input):
        return input + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = copy.deepcopy(torch.export.export(model, args))
    expected = [spec.arg.name for spec in program.graph_signature.input_specs]
    return expected, [node.name for node in program.graph.find_nodes(op="placeholder")]


def make_workaround():
    """Give the argument a name that is neither a builtin of Python nor a module, such as x."""

    class Renamed(Model):
        def forward(self, x):
            return x + 1

    return Renamed(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the signature of the copy names {expected}, its graph has {got}")
    raise SystemExit(bug)
