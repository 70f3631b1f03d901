# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "an op that export has seen before begins at another offset, and another branch is exported"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "cached_result_keeps_offset"
# affected = "2.13.0"
# upstream = ""
# at-fault = "torch/_subclasses/fake_tensor.py, FakeTensorMode._get_output_tensor_from_cache_entry"
# ///
"""The copy that select_scatter makes begins where its input does; the second time, export has it begin at 0.

The cache of fake results notes the offset of a result, and sets it for views alone: any other is rebuilt by
empty_strided, with offset 0 and a smaller storage (slice_scatter, diagonal_scatter and as_strided_scatter
keep offsets too). The cache lives as long as the process, so that without the loop the first export of the
model is right and the second wrong.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        for _ in range(2):
            y = x[1:].select_scatter(x[0], 0, 0)
        return y * 2 if y.storage_offset() == 1 else y


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected, seen = model(*args), torch.export.export(model, args).module()(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {seen}")
    raise SystemExit(bug)
