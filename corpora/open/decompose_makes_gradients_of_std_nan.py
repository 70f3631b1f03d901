# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD377"
# title = "run_decompositions: gradients of std are nan where all values are equal"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a layer norm written with std, as in the Annotated Transformer; padding is all zeros"
# evidence = ["https://nlp.seas.harvard.edu/annotated-transformer/"]
# topics = ["norms"]
# cause = """
# `std` has the gradient 0 where all values are equal. Its decomposition is the square root of `var`. Backward
# multiplies the infinite gradient of this root by the gradient 0 of `var`: nan. The decomposition should take
# no square root of 0."""
# path = "nonstrict+decompose:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "decomposed_std_has_finite_gradients"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_refs/__init__.py, std: takes the square root of zero"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer norm that is written with `std` gets a row of zeros, as padding is. In eager and after export, the
gradients are finite. After run_decompositions, they are nan.

`std` has the gradient 0 where all values are equal. Its decomposition is the square root of `var`. Backward
multiplies the infinite gradient of this root by the gradient 0 of `var`: nan. The decomposition should take
no square root of 0.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)  # first difference


def make():
    return Model(), (torch.zeros(1, 2, requires_grad=True),)


def gradient(module, args):
    module(*args).sum().backward()
    return args[0].grad


def show():
    model, args = make()
    expected = gradient(model, args)
    args = make()[1]
    program = torch.export.export(model, args).run_decompositions()
    return expected, gradient(program.module(), args)


def make_workaround():
    """Add a small number to the variance, as nn.LayerNorm does: that changes results a little."""

    class Normalizing(nn.Module):
        def forward(self, x):
            return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + 1e-6)

    return Normalizing(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient of eager is {expected}, here {got}")
    raise SystemExit(bug)
