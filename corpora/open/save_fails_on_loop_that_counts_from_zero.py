# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD195"
# title = "torch.export.save: SerializeError for a while_loop that starts from a Python number"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a loop with a counter in Python: it is exported and runs, and cannot be saved"
# topics = ["control-flow"]
# cause = """
# The operands of the loop are a tuple of a number and a tensor. The schema has lists of numbers and lists of
# tensors, and none for both: "Unsupported list/tuple argument type". With torch.tensor(0) instead of 0 it can
# be saved."""
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
# fix = "save_refuses_lists_of_tensors_and_numbers"
# upstream = "https://github.com/pytorch/pytorch/issues/145785"
# upstream-match = "place"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185926"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, serialize_input: 'Unsupported list/tuple argument type'"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A while_loop starts from the number 0. The program runs; saving it raises SerializeError.

The operands of the loop are a tuple of a number and a tensor. The schema has lists of numbers and lists of
tensors, and none for both: "Unsupported list/tuple argument type". With torch.tensor(0) instead of 0 it can
be saved.
"""

import io
import sys

import torch
from torch._higher_order_ops.while_loop import while_loop


class Model(torch.nn.Module):
    def forward(self, x):
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, x))[1]


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    torch.export.save(ep, io.BytesIO())


def make_workaround():
    """Count in a tensor."""

    class Counting(Model):
        def forward(self, x):
            return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))[1]

    return Counting(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.serde.serialize.SerializeError as error:
        bug = "Unsupported list/tuple argument type" in str(error)
        print(f"{'BUG' if bug else 'ok'}: torch.export.save raises {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: torch.export.save raises nothing")
