# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD111"
# title = "torch.export: IndexError for x.unsqueeze_(0) of an input"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "unsqueeze_ on an input"
# topics = ["in-place"]
# cause = """
# `unsqueeze_` changes the fake input itself. After tracing, `produce_guards_verbose` makes guards for this
# fake input with its new rank, and looks for constraints that were made for the old rank. It should use the
# shape from before. The same mistake of Dynamo is PyTorch issue 93610."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "IndexError",
#         "non_strict_utils.py:produce_guards_and_solve_constraints",
#         "symbolic_shapes.py:produce_guards",
#         "symbolic_shapes.py:produce_guards_verbose",
#     ],
# ]
# fix = "export_guards_inputs_as_they_came"
# upstream = "https://github.com/pytorch/pytorch/issues/198100"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards_verbose, over the mutated fake input"
# workaround = "none: unsqueeze out of place, which leaves the input as it is"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model calls `unsqueeze_` on its input. Export raises IndexError when it makes the guards.

`unsqueeze_` changes the fake input itself. After tracing, `produce_guards_verbose` makes guards for this fake
input with its new rank, and looks for constraints that were made for the old rank. It should use the shape
from before. The same mistake of Dynamo is PyTorch issue 93610.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.unsqueeze_(0)
        return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
