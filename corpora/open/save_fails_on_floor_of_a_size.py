# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD194"
# title = "torch.export.save: SerializeError for math.floor, math.ceil or round of a dynamic size"
# harm = "clear error"
# reach = "everyday"
# reach-because = "a size that is computed with math.floor or math.ceil, in a program that is saved"
# evidence = [
#     "https://github.com/pytorch/pytorch/issues/138852",
#     "https://github.com/pytorch/pytorch/issues/115209",
# ]
# topics = ["dynamic-sizes"]
# cause = """
# `_SYM_OPS` lists the functions of numbers that can be saved. It should have all that the verifier allows,
# also math.ceil, round, abs and torch.sym_sum."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "SerializeError", "serialize.py:serialize", "serialize.py:serialize",
#         "serialize.py:serialize_graph",
#     ],
# ]
# fix = "save_takes_all_functions_of_sizes"
# upstream = "https://github.com/pytorch/pytorch/pull/186373"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186373"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, _SYM_OPS: less than allowed_builtin_ops of the verifier"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model uses `math.floor` of a dynamic size. The program runs; saving it raises "op <built-in function
floor> is not in _SYM_OPS".

`_SYM_OPS` lists the functions of numbers that can be saved. It should have all that the verifier allows, also
math.ceil, round, abs and torch.sym_sum.
"""

import io
import math
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x[: math.floor(x.shape[0] / 2)]


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    torch.export.save(torch.export.export(model, args, dynamic_shapes=dynamic_shapes()), io.BytesIO())


def make_workaround():
    """Divide with // instead of math.floor."""

    class Dividing(Model):
        def forward(self, x):
            return x[: x.shape[0] // 2]

    return Dividing(), (torch.ones(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.serde.serialize.SerializeError as error:
        sys.exit(f"BUG: torch.export.save raises {type(error).__name__}: {error!r:.100}")
    print("ok: torch.export.save raises nothing")
