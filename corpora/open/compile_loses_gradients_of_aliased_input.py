# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD024"
# title = "torch.compile: no gradient for a parameter copied to an input whose slice is another input"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = """
# a state and a slice of it, both inputs: forward copies weights to one, computes with the other"""
# topics = ["views", "in-place"]
# cause = """
# AOTAutograd first records that the output requires no gradient, as if the inputs were separate. Then it
# replaces both inputs by a common base, but keeps what it has recorded of the outputs. It should compute this
# again."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad", "fresh"]]
# fix = "synthetic_bases_have_metadata_of_their_own"
# upstream = "https://github.com/pytorch/pytorch/pull/198097"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = """
# torch/_functorch/_aot_autograd/runtime_wrappers.py, AOTSyntheticBaseWrapper.pre_compile: output_info"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`first` is a slice of `state`. Forward copies a parameter to `state` and then computes with `first`: the
result has no gradient.

AOTAutograd first records that the output requires no gradient, as if the inputs were separate. Then it
replaces both inputs by a common base, but keeps what it has recorded of the outputs. It should compute this
again.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, state, first):
        gate = first.sigmoid()
        state.copy_(self.w)
        return gate * first  # first difference


def make():
    model = Model()
    model.w = nn.Parameter(torch.ones(2))
    state = torch.zeros(2)
    return model, (state, state[:1])


def show():
    model, args = make()
    expected = model(*args)
    model, args = make()
    model.compile(backend="aot_eager")
    got = model(*args)
    return expected.requires_grad, got.requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: requires_grad is {expected} in eager, {got} with torch.compile")
    raise SystemExit(bug)
