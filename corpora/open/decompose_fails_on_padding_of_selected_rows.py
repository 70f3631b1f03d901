# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD422"
# title = "run_decompositions: GuardOnDataDependentSymNode for pad_sequence of rows that a mask selects"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "sequences whose lengths come from a mask: valid tokens, selected boxes"
# topics = ["indexing", "recurrent"]
# cause = """
# The decomposition of pad_sequence takes Python's max() of the lengths. max() asks which length is larger.
# While torch traces, nobody knows that. It should call torch.sym_max. Export without strict keeps
# pad_sequence, so only decompositions fail, and backends that decompose, such as ONNX."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "GuardOnDataDependentSymNode"]]
# trigger = ["idiom.packed", "op.data"]
# upstream = "https://github.com/pytorch/pytorch/issues/127153"
# upstream-match = "symptom"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186429"
# upstream-searched = "2026-11-28"
# at-fault = "torch/_decomp/decompositions.py, pad_sequence: Python's max() of the lengths"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""The program pads two sequences whose lengths a mask decides. It cannot be decomposed.

The decomposition of `pad_sequence` takes Python's max() of the lengths. It should call `torch.sym_max`.
"""

import sys

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode


class Model(torch.nn.Module):
    def forward(self, x, mask):
        return torch.nn.utils.rnn.pad_sequence([x[mask], x[~mask]])


def make():
    return Model(), (torch.arange(4.0), torch.tensor([True, False, True, True]))


def show():
    model, args = make()
    program = torch.export.export(model, args).run_decompositions()
    return model(*args), program.module()(*args)


def make_workaround():
    """Pad to a length that is known, and cut the result."""

    class Cutting(torch.nn.Module):
        def forward(self, x, mask):
            rows = torch.nn.utils.rnn.pad_sequence([x, x[mask], x[~mask]])
            longest = torch.maximum(mask.sum(), (~mask).sum())
            return rows[: longest.item(), 1:]

    return Cutting(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except GuardOnDataDependentSymNode as error:
        sys.exit(f"BUG: eager raises nothing, run_decompositions raises {error!r:.100}")
    print("ok: neither eager nor run_decompositions raises")
