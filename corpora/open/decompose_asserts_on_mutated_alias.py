# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD040"
# title = "run_decompositions: AssertionError if an updated buffer is registered under two names"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a buffer of two names that is updated, or an input transposed in place"
# topics = ["buffers", "tied-weights", "in-place"]
# cause = """
# The counter is an argument of the graph twice, and is written to. AOTAutograd refuses this in plain words,
# but only if `is_export` is set, and `aot_export_joint_with_descriptors` does not set it. It goes on, and the
# assertion fails in `aot_stage2_export`."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "AssertionError", "_trace.py:_export_to_aten_ir",
#         "_trace.py:_aot_export_joint_with_descriptors", "graph_compile.py:aot_stage2_export",
#     ],
# ]
# fix = "decompose_refuses_metadata_mutation"
# upstream = "https://github.com/pytorch/pytorch/pull/174530"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/174530"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/graph_compile.py, aot_stage2_export"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a counter under two names exports, but run_decompositions fails an internal assertion.

The counter is an argument of the graph twice, and is written to. AOTAutograd refuses this in plain words, but
only if `is_export` is set, and `aot_export_joint_with_descriptors` does not set it. It goes on, and the
assertion fails in `aot_stage2_export`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("calls", self.count)

    def forward(self, x):
        self.count.add_(1)
        return x + self.count


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args).run_decompositions()


def make_workaround():
    """Register the buffer under one name, and give it the other as a property."""

    class Aliasing(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        @property
        def calls(self):
            return self.count

        def forward(self, x):
            self.count.add_(1)
            return x + self.count

    return Aliasing(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: run_decompositions raises {error!r:.100}")
    except RuntimeError as error:
        print(f"ok: run_decompositions refuses the model: {error}")
    else:
        print("ok: run_decompositions raises nothing")
