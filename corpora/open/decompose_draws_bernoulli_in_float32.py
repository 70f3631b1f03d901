# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD043"
# title = "run_decompositions: torch.bernoulli of float64 draws other values for the same seed"
# harm = "cosmetic"
# reach = "contrived"
# reach-because = "torch.bernoulli in a float64 model, compared with eager for the same seed"
# topics = ["random", "dtypes"]
# cause = """
# The CPU kernel draws float64 random numbers for float64 probabilities. The decomposition always draws
# float32. On the CPU, it should use the dtype of the probabilities."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "bernoulli_draws_as_wide_as_its_probabilities"
# upstream = "https://github.com/pytorch/pytorch/pull/192261"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_decomp/decompositions.py, bernoulli: torch.rand(..., dtype=torch.float32)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""With the same seed, the decomposed program draws other values from float64 probabilities than eager.

The CPU kernel draws float64 random numbers for float64 probabilities. The decomposition always draws float32.
On the CPU, it should use the dtype of the probabilities.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.bernoulli(x)  # first difference


def make():
    return Model(), (torch.full((8,), 0.5, dtype=torch.float64),)


def show():
    model, args = make()
    program = torch.export.export(model, args).run_decompositions().module()
    torch.manual_seed(0)
    expected = model(*args)
    torch.manual_seed(0)
    return expected, program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager draws {expected}, the program {got}")
    raise SystemExit(bug)
