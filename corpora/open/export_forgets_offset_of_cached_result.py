# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD120"
# title = "torch.export: a repeated op records storage offset 0, so the wrong branch may be exported"
# harm = "cosmetic"
# reach = "everyday"
# reach-because = "slices and circular padding: only the recorded storage offset is wrong"
# evidence = ["zoo:transformers/beit", "zoo:module_db/nn.CircularPad1d"]
# topics = ["views"]
# cause = """
# FakeTensorMode._get_output_tensor_from_cache_entry restores the recorded storage offset for views only."""
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
"""The result of select_scatter has the offset of its input; for the second call, export uses offset 0.

The cache of fake results notes the offset of a result, and sets it for views alone: any other is rebuilt by
empty_strided, with offset 0 and a smaller storage. The cache lives as long as the process; the loop fills it
here.
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
