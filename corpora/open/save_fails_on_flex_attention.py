# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD354"
# title = "torch.export.save: SerializeError for flex_attention"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model with flex_attention that is exported and saved"
# topics = ["attention"]
# cause = """
# flex_attention is one node of the graph, even without a mask. One of its arguments is the block mask: a
# tuple of numbers, tensors, None and a graph. `serialize_input` writes only lists whose elements have one
# type. The schema should have lists of any arguments."""
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
# trigger = ["idiom.flex_attention"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_export/serde/serialize.py, serialize_input: a tuple of numbers, nodes and None"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with flex_attention can be exported, and the program runs. But torch.export.save raises
SerializeError.

flex_attention is one node of the graph, even without a mask. One of its arguments is the block mask: a tuple
of numbers, tensors, None and a graph. `serialize_input` writes only lists whose elements have one type. The
schema should have lists of any arguments.
"""

import io
import sys

import torch
from torch.nn.attention.flex_attention import flex_attention


class Model(torch.nn.Module):
    def forward(self, x):
        return flex_attention(x, x, x)


def make():
    return Model(), (torch.ones(1, 1, 3, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    torch.export.save(program, io.BytesIO())


def make_workaround():
    """Call scaled_dot_product_attention, with a mask of booleans if there is one."""

    class Scaled(Model):
        def forward(self, x):
            return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    return Scaled(), (torch.ones(1, 1, 3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.serde.serialize.SerializeError as error:
        sys.exit(f"BUG: eager raises nothing, save raises {error!r:.100}")
    print("ok: neither eager nor save raises")
