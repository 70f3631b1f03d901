# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD181"
# title = "copy.deepcopy of an ExportedProgram fails if an example input is the output of another model"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a part of a model exported with what the part before it gives, and the program copied"
# topics = ["copies"]
# cause = """
# ExportedProgram stores the example inputs with their autograd history, and deepcopy refuses tensors that are
# no leaves. The program should store detached tensors."""
# path = "nonstrict+deepcopy:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# fix = "program_keeps_no_history_of_its_example"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/exported_program.py, ExportedProgram.__init__: self._example_inputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A head is exported with the output of its backbone. A deep copy of the program raises RuntimeError.

ExportedProgram stores the example inputs with their autograd history, and deepcopy refuses tensors that are
no leaves. The program should store detached tensors.
"""

import copy
import sys

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 1)

    def forward(self, x):
        return self.linear(x)


def make():
    backbone = nn.Linear(3, 2)
    return Head(), (backbone(torch.ones(1, 3)),)


def show():
    model, args = make()
    copy.deepcopy(torch.export.export(model, args))


def make_workaround():
    """Detach the example input."""
    backbone = nn.Linear(3, 2)
    return Head(), (backbone(torch.ones(1, 3)).detach(),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "support the deepcopy protocol" not in str(error):
            raise
        sys.exit("BUG: copying the program raises RuntimeError")
    print("ok: copying the program raises nothing")
