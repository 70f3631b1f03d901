# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD095"
# title = "torch.export: RuntimeError for dropout of an empty boolean tensor"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "dropout of a boolean tensor without elements"
# topics = ["random"]
# cause = """
# Dropout cannot scale booleans, but an empty tensor has nothing to scale. The kernel returns the input if it
# has no elements. The decomposition `native_dropout` checks the dtype first, and its error speaks of Long. It
# should check for an empty tensor first."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "RuntimeError"]]
# fix = "dropout_of_nothing_is_nothing"
# upstream = "https://github.com/pytorch/pytorch/issues/197846"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, native_dropout: the dtype is looked at before the size"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In train mode, nn.Dropout accepts an empty boolean tensor in eager. Export raises because of its dtype.

Dropout cannot scale booleans, but an empty tensor has nothing to scale. The kernel returns the input if it
has no elements. The decomposition `native_dropout` checks the dtype first, and its error speaks of Long. It
should check for an empty tensor first.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout()

    def forward(self, x):
        return self.dropout(x == 0)


def make():
    return Model(), (torch.ones(0),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "be cast to the desired output type Long" not in str(error):
            raise
        sys.exit(f"BUG: export raises RuntimeError: {error}")
    print("ok: export takes it too")
