# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD039"
# title = "copy.deepcopy(ep): torch.export.save refuses the copy if an argument is called input"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "an argument called input, as in nn.Linear and other layers of torch.nn"
# evidence = ["zoo:module_db/nn.Linear"]
# topics = ["names", "copies"]
# cause = """
# The check before saving finds `input` in the signature, and `input_1` in the graph. `Graph.__deepcopy__`
# makes nodes with `create_node`, which renames nodes that have the name of a Python builtin. torch.export
# gives inputs the names of arguments, whatever they are. The copy should keep the names. PyTorch PR 133269
# corrects this for one experimental function only."""
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
"""A program with an argument called `input` can be saved. torch.export.save refuses its deep copy.

The check before saving finds `input` in the signature, and `input_1` in the graph. `Graph.__deepcopy__` makes
nodes with `create_node`, which renames nodes that have the name of a Python builtin. torch.export gives
inputs the names of arguments, whatever they are. The copy should keep the names. PyTorch PR 133269 corrects
this for one experimental function only.
"""

import copy
import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, input):
        return input + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    torch.export.save(program, io.BytesIO())
    torch.export.save(copy.deepcopy(program), io.BytesIO())


def make_workaround():
    """Call the argument x: this name is no builtin of Python."""

    class Renamed(Model):
        def forward(self, x):
            return x + 1

    return Renamed(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: the program is saved, saving its copy raises {error!r}")
    print("ok: the program and its copy are saved")
