# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD182"
# title = "torch.export.load: SpecViolationError if a no_grad block only updates a buffer"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a statistic that forward updates under no_grad, as a counter or a moving average"
# topics = ["no-grad", "buffers"]
# cause = """
# The node of such a block has an empty tuple for its result. `deserialize_outputs` returns early if there are
# no outputs, and does not set `meta["val"]`, which the verifier demands."""
# path = "nonstrict+reload:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SpecViolationError",
#         "verifier.py:check",
#         "verifier.py:_check_graph_module",
#         "verifier.py:_check_val",
#     ],
# ]
# fix = "load_restores_empty_results"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, GraphModuleDeserializer.deserialize_outputs: no outputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A no_grad block only updates a buffer. The program can be saved, but loading it raises SpecViolationError.

The node of such a block has an empty tuple for its result. `deserialize_outputs` returns early if there are
no outputs, and does not set `meta["val"]`, which the verifier demands.
"""

import io
import sys

import torch
from torch._export.verifier import SpecViolationError


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        with torch.no_grad():
            self.count.add_(1)
        return x * 2


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    torch.export.load(file)


def make_workaround():
    """Update the buffer without no_grad: it needs no gradient."""

    class Counting(Model):
        def forward(self, x):
            self.count.add_(1)
            return x * 2

    return Counting(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SpecViolationError as error:
        sys.exit(f"BUG: saving raises nothing, loading raises {error!r}")
    print("ok: saving raises nothing, loading raises nothing")
