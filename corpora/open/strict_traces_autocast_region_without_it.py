# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD213"
# title = "torch.export(strict=True): the graph records float32 for results that autocast makes bfloat16"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "a model with an autocast block: recorded dtypes are wrong, results are right"
# topics = ["autocast"]
# cause = """
# `_enter_autocast` makes a node while a graph is traced, and relies on its caller to enter autocast. The
# graph of Dynamo calls only `_enter_autocast`, so that autocast is off while export traces it. Non-strict
# export is right."""
# path = "strict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "dtype", "wrap_with_autocast"]]
# fix = "enter_autocast_when_traced"
# upstream = "https://github.com/pytorch/pytorch/issues/159623"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/159661"
# at-fault = "torch/amp/autocast_mode.py, _enter_autocast: makes a node, and does not enter autocast"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Within autocast, a product is bfloat16, in eager and in the program. The graph records float32.

`_enter_autocast` makes a node while a graph is traced, and relies on its caller to enter autocast. The graph
of Dynamo calls only `_enter_autocast`, so that autocast is off while export traces it. Non-strict export is
right.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=True)
    return model(*args).dtype, ep.graph.output_node().args[0][0].meta["val"].dtype


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the graph says {got}")
    raise SystemExit(bug)
