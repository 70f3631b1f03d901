# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records transposed strides for batch norm, which is contiguous"
# variant-of = "export_predicts_wrong_strides_of_batch_norm"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.batch_norm.default"]]
# fix = "batch_norm_is_contiguous_on_cpu"
# upstream = "https://github.com/pytorch/pytorch/issues/192668"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/192681"
# at-fault = "torch/_decomp/decompositions.py, native_batch_norm_helper: the output takes after the input"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Batch norm of a transposed input is contiguous on the CPU. The graph records transposed strides.

The CPU kernel makes a contiguous result (or a channels-last one). The decomposition
`native_batch_norm_helper` uses elementwise operators, which keep the strides of the input. A compiler that
plans views by the recorded strides makes mistakes.
"""

import sys

import torch
from torch import nn


def make():
    return nn.BatchNorm1d(2).eval(), (torch.ones(2, 2).t(),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.batch_norm.default)
    return model(*args).stride(), node.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)
