# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.save: SerializeError for a torch.tensor(...) in a branch of torch.cond"
# variant-of = "decompose_fails_on_constant_in_branch"
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SerializeError",
#         "serialize.py:serialize",
#         "serialize.py:serialize",
#         "serialize.py:serialize_graph",
#     ],
# ]
# fix = "export_takes_constants_out_of_bodies"
# upstream = ""
# at-fault = "torch/_export/passes/lift_constants_pass.py, lift_constants_pass: not in bodies"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A branch of torch.cond adds `torch.tensor(1.0)`. The program runs; saving it raises SerializeError.

`lift_constants_pass` makes constants in the main graph inputs of the program, but not those in graphs of
branches. There the constant stays an attribute, which cannot be saved. It should be passed to the branch as
an operand.
"""

import io
import sys

import torch
from torch._export.serde.serialize import SerializeError


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + torch.tensor(1.0), torch.sin, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    program.module()(*args)
    torch.export.save(program, io.BytesIO())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SerializeError as error:
        sys.exit(f"BUG: the program runs, torch.export.save raises {error!r:.100}")
    print("ok: neither the program nor torch.export.save raises")
