# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD044"
# title = "run_decompositions: same seed, but in-place dropout of a transposed tensor drops other elements"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "in-place dropout after a transpose, compared with eager for the same seed"
# topics = ["random", "in-place", "layout"]
# cause = """
# In-place dropout calls `bernoulli_`, which fills a tensor in the order of its memory. Functionalization
# replaces it by `bernoulli`, which fills a contiguous tensor. It should keep the strides, as other random
# operators do."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# trigger = ["inplace.random"]
# upstream = "https://github.com/pytorch/pytorch/pull/129467"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "aten/src/ATen/native/Distributions.cpp, bernoulli: LEGACY_CONTIGUOUS_MEMORY_FORMAT"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""With the same seed, in-place dropout of a transposed tensor drops other elements in the decomposed program
than in eager. The share of dropped elements is right.

In-place dropout calls `bernoulli_`, which fills a tensor in the order of its memory. Functionalization
replaces it by `bernoulli`, which fills a contiguous tensor. It should keep the strides, as other random
operators do.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(inplace=True)

    def forward(self, x):
        return self.dropout(x.t() + 1)  # first difference


def make():
    return Model(), (torch.zeros(4, 3),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    torch.manual_seed(0)
    expected = model(*args)
    torch.manual_seed(0)
    return expected, decomposed(*args)


def make_workaround():
    """Use dropout out of place."""

    class Copying(Model):
        def __init__(self):
            super().__init__()
            self.dropout = nn.Dropout()

    return Copying(), (torch.zeros(4, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, decomposed {got.tolist()}")
    raise SystemExit(bug)
