# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD415"
# title = "torch.export: the graph says float32 for the logsumexp of a float64 flex_attention"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "a model of float64 with flex_attention: its graph records another dtype than it computes"
# topics = ["attention", "dtypes"]
# cause = """
# The dense implementation computes scores in float64 if the query is float64. `flex_attention_fake_impl`
# predicts float32 always. It should predict the dtype that the dense implementation returns."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "dtype", "flex_attention"]]
# fix = "fake_flex_attention_keeps_double"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_higher_order_ops/flex_attention.py, flex_attention_fake_impl: dtype=torch.float32"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A float64 model calls flex_attention with return_lse. The program returns a float64 logsumexp. Its graph
says float32.

The dense implementation computes scores in float64 if the query is float64. `flex_attention_fake_impl`
predicts float32 always. It should predict the dtype that the dense implementation returns.
"""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention


class Model(torch.nn.Module):
    def forward(self, x):
        return flex_attention(x, x, x, return_lse=True)


def make():
    return Model(), (torch.ones(1, 1, 3, 2, dtype=torch.float64),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    (returned,) = program.graph.output_node().args
    return program.module()(*args)[1].dtype, returned[1].meta["val"].dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the program returns {expected}, and its graph says {got}")
    raise SystemExit(bug)
