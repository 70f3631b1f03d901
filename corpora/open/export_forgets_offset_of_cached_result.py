# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD120"
# title = "torch.export: the graph records storage offset 0 for an operator that was called before"
# harm = "cosmetic"
# reach = "everyday"
# reach-because = "slices and circular padding: only the recorded storage offset is wrong"
# evidence = ["zoo:transformers/beit", "zoo:module_db/nn.CircularPad1d"]
# topics = ["views"]
# cause = """
# FakeTensorMode keeps a cache of results. It stores the offset of a result, but uses it only for views;
# other results are made by `empty_strided`, with offset 0. The second call gets its result from the cache.
# It should get the offset, too."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "offset", "aten.select_scatter.default"]]
# fix = "cached_result_keeps_offset"
# upstream = "https://github.com/pytorch/pytorch/pull/132050"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/fake_tensor.py, FakeTensorMode._get_output_tensor_from_cache_entry"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The result of select_scatter has the storage offset of its input. For the second call, export records
offset 0.

FakeTensorMode keeps a cache of results. It stores the offset of a result, but uses it only for views; other
results are made by `empty_strided`, with offset 0. The second call gets its result from the cache. It should
get the offset, too.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        first = x[1:].select_scatter(x[0], 0, 0)
        second = x[1:].select_scatter(x[0], 0, 0)
        return first, second


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    graph = torch.export.export(model, args).graph
    nodes = graph.find_nodes(op="call_function", target=torch.ops.aten.select_scatter.default)
    recorded = [node.meta["val"].storage_offset() for node in nodes]
    return [result.storage_offset() for result in model(*args)], recorded


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the storage offsets are {expected}, recorded are {got}")
    raise SystemExit(bug)
