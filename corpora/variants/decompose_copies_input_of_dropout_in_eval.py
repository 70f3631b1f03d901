# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: dropout in eval mode returns a copy of its input"
# variant-of = "compile_takes_dropout_in_eval_for_a_copy"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "output", "parameter"]]
# fix = "dropout_returns_input"
# upstream = "https://github.com/pytorch/pytorch/issues/115249"
# upstream-match = "mechanism"
# at-fault = "torch/_decomp/decompositions.py, dropout: returns input.clone()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""Dropout in eval mode returns its input, here a parameter, which the model returns. The decomposed program
returns a copy.

The decomposition of dropout returns `input.clone()` if `train` is False. It should return `input`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x + 1, nn.functional.dropout(self.w, training=False)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args).run_decompositions().module()
    return model(*args)[1] is model.w, program(*args)[1] is program.w


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the output is w: {expected} in eager, {got} once decomposed")
    raise SystemExit(bug)
