# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK changes the random numbers that torch draws next"
# id = "XE002"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "torch.manual_seed, then a lowering, then random numbers that should repeat"
# topics = ["random"]
# cause = """
# When a process lowers to XNNPACK for the first time, `get_graphs` makes its patterns of attention from
# torch.randn, with the global generator, and `_get_bilinear_2d_graphs` its patterns of interpolation. Both
# should use torch.zeros, or torch.random.fork_rng."""
# path = "executorch:xnnpack@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# trigger = ["op.map"]
# undetected-because = "only the first lowering in a process shows it, so the backend prevents it"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/backends/xnnpack/partition/graphs, sdpa.py and bilinear_2d.py: torch.randn"
# workaround = "none: call torch.manual_seed after the lowering"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The first lowering to XNNPACK in a process changes the state of torch's global random number generator.

`get_graphs` and `_get_bilinear_2d_graphs` draw the example inputs of their patterns with `torch.randn`. They
should use `torch.zeros`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def make():
    return Model(), (torch.ones(2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    to_edge_transform_and_lower(torch.export.export(model, args), partitioner=[XnnpackPartitioner()])
    return expected, torch.rand(1)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: without the lowering, torch.rand gives {expected}, after it {got}")
    raise SystemExit(bug)
