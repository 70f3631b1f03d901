# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD066"
# title = "draft_export: RuntimeError for a deep copy of an expanded tensor as input"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an expanded tensor as example, after copy.deepcopy or torch.load"
# topics = ["views"]
# cause = """
# The elements of an expanded tensor share one element of memory, also after copy.deepcopy or torch.load.
# draft_export fills the real tensor of a fake one with `copy_`, which refuses to write to such a tensor.
# `_safe_copy` should copy the memory."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "RuntimeError", "meta_utils.py:__call__"]]
# fix = "draft_export_copies_each_place_once"
# upstream = ""
# at-fault = "torch/_subclasses/meta_utils.py, _safe_copy: dst.copy_(src)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The input is a copy of `torch.ones(1).expand(2)`. torch.export accepts it, draft_export raises
RuntimeError.

The elements of an expanded tensor share one element of memory, also after copy.deepcopy or torch.load.
draft_export fills the real tensor of a fake one with `copy_`, which refuses to write to such a tensor.
`_safe_copy` should copy the memory.
"""

import copy
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (copy.deepcopy(torch.ones(1).expand(2)),)


def show():
    model, args = make()
    return model(*args), torch.export.draft_export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, draft_export raises {error!r}")
    print(f"ok: eager returns {expected}, draft_export raises nothing")
