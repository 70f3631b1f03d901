# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD191"
# title = "torch.export.load: a buffer that is a view of another with another dtype gets separate memory"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a buffer that views another one with another dtype, one of them written to"
# topics = ["views", "buffers", "dtypes"]
# cause = """
# `_save_raw_tensors` writes a file for each group of `group_weights`, which groups tensors by storage and
# dtype. It should write one file for each storage."""
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "memory-no-longer-shared"]]
# fix = "save_packs_all_dtypes_of_a_memory"
# upstream = ""
# at-fault = "torch/export/pt2_archive/_package.py, _save_raw_tensors: one file for each dtype of a storage"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The buffer `bits` is a view of `values` as integers. After save and load, it no longer changes with
`values`.

`_save_raw_tensors` writes a file for each group of `group_weights`, which groups tensors by storage and
dtype. It should write one file for each storage.
"""

import io
import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("values", torch.ones(2))
        self.register_buffer("bits", self.values.view(torch.int32))

    def forward(self, x):
        self.values.add_(x)
        return self.bits + 0


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    loaded = torch.export.load(file).module()
    return model(*args).tolist(), loaded(*args).tolist()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the loaded program {got}")
    raise SystemExit(bug)
