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
# FakeTensorMode keeps a cache of results. It stores the offset of a result, but uses it only for views; other
# results are made by `empty_strided`, with offset 0. The loop calls the operator twice, so that the second
# result comes from the cache. The model branches on the offset to make the mistake visible."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
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
results are made by `empty_strided`, with offset 0. The loop calls the operator twice, so that the second
result comes from the cache. The model branches on the offset to make the mistake visible.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        for _ in range(2):
            y = x[1:].select_scatter(x[0], 0, 0)
        return y * 2 if y.storage_offset() == 1 else y  # first difference


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
