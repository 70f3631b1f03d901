# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: SpecViolationError if one value is copied into two buffers"
# variant-of = "decompose_returns_buffer_for_its_source"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "SpecViolationError", "exported_program.py:_validate",
#         "verifier.py:check", "verifier.py:_verify_exported_program_signature",
#     ],
# ]
# fix = "copies_of_outputs_stay"
# upstream = ""
# at-fault = "torch/export/exported_program.py, _remove_unnecessary_copy_op_pass: removes both copies"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward copies one value into two buffers. The program runs; run_decompositions raises SpecViolationError.

`_remove_unnecessary_copy_op_pass` removes both copies, so that one node is the new value of two buffers. The
signature has one entry for each node, and one buffer is lost: "User output add is not in the correct order".
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("hidden", torch.zeros(1))
        self.register_buffer("last", torch.zeros(1))

    def forward(self, x):
        new = x + self.hidden
        self.hidden.copy_(new)
        self.last.copy_(new)
        return x * 2


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.run_decompositions()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: run_decompositions raises {type(error).__name__}: {error}")
    print("ok: run_decompositions raises nothing")
