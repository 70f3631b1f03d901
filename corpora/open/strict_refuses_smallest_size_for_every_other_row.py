# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD211"
# title = "torch.export(strict=True): a model that returns x[::2] refuses two rows, the declared minimum"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a slice with a step as a result, called with the smallest size of dynamic_shapes"
# topics = ["dynamic-sizes", "indexing"]
# cause = """
# Strict export traces the graph of Dynamo again. For each result, `set_meta` records the memory format, and
# for this asks whether a size is 1. The answer becomes a guard, which no operator needs. Dynamo has compared
# the guards with dynamic_shapes before."""
# path = "strict:module@cpu"
# check = "guards"
# kind = "crash"
# stage = "run"
# status = "open"
# signatures = [["guards", "crash", "refused", "size", "probe"]]
# fix = "memory_format_of_nodes_adds_no_guards"
# upstream = "https://github.com/pytorch/pytorch/issues/165032"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185084"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, set_meta: its tensor_meta adds guards"
# workaround = "none: export with 3 as the smallest size"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns every other row. dynamic_shapes allows two rows and more. The program refuses two rows.

Strict export traces the graph of Dynamo again. For each result, `set_meta` records the memory format, and for
this asks whether a size is 1. The answer becomes a guard, which no operator needs. Dynamo has compared the
guards with dynamic_shapes before.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x[::2]


def make():
    return Model(), (torch.ones(6, 3),)


def dynamic_shapes():
    return ({0: torch.export.Dim("n", min=2)},)


def probes():
    return [((torch.ones(2, 3),), {})]


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=True)
    program.module()(torch.ones(2, 3))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: two rows, which dynamic_shapes allows, are refused: {error}")
    print("ok: the exported program takes two rows")
