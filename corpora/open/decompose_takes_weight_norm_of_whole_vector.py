# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD058"
# title = "run_decompositions: weight_norm of a vector divides by the norm of the whole vector"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "weight_norm on a parameter of one dimension, as of LayerNorm"
# topics = ["norms"]
# cause = """
# The decomposition computes the norm over all dimensions but one. For a vector this list is empty, and an
# empty list means all dimensions. For a vector, the norm should be the absolute value of each element."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "weight_norm_of_a_vector_is_by_element"
# upstream = "https://github.com/pytorch/pytorch/pull/191141"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/191141"
# at-fault = "torch/_decomp/decompositions.py, _weight_norm_interface: v.norm(2, keep_dim, ...)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""weight_norm of a vector divides each element by its own norm. Decomposed, it divides by the norm of the
vector.

The decomposition computes the norm over all dimensions but one. For a vector this list is empty, and an empty
list means all dimensions. For a vector, the norm should be the absolute value of each element.
"""

import sys

import torch
from torch import nn


def make():
    model = nn.utils.parametrizations.weight_norm(nn.LayerNorm(3))
    return model, (torch.tensor([1.0, 2.0, 4.0]),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args), decomposed(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, decomposed {got.tolist()}")
    raise SystemExit(bug)
