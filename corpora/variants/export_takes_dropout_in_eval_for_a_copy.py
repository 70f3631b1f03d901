# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the program raises if the input of dropout in eval mode is transposed in place"
# variant-of = "compile_takes_dropout_in_eval_for_a_copy"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Given expected input with shape but got input"]]
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
"""Dropout in eval mode returns its input, so that `x.t_()` also changes the result y. While export traces, y
keeps its shape.

So layer_norm gets a wrong shape in the program, and raises. The decomposition of dropout returns
`input.clone()` if `train` is False. It should return `input`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = nn.functional.dropout(x, training=False)
        x.t_()
        return nn.functional.layer_norm(y, y.shape[-1:])


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(torch.ones(1, 2)).shape, program(torch.ones(1, 2)).shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the program raises {error!r:.100}")
    print(f"ok: eager gives shape {expected}, the program {got}")
