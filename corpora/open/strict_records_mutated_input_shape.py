# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD210"
# title = "torch.export(strict=True): the program refuses its own example after x.relu_().squeeze_(0)"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an input squeezed in place through the result of another in-place operator"
# topics = ["in-place"]
# cause = """
# Dynamo refuses `x.squeeze_(0)` of an input, because it changes the fake tensor that stands for the input. It
# recognizes inputs by their source. The result of `x.relu_()` is the same tensor, but has no source."""
# path = "strict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "recorded"]]
# fix = "inplace_view_of_input_by_any_name"
# upstream = "https://github.com/pytorch/pytorch/issues/198100"
# upstream-match = "mechanism"
# at-fault = "torch/_dynamo/variables/tensor.py, var_getattr: recognizes inputs by their source only"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model squeezes its input in place. The program accepts only inputs that have the shape after the
squeeze.

Dynamo refuses `x.squeeze_(0)` of an input, because it changes the fake tensor that stands for the input. It
recognizes inputs by their source. The result of `x.relu_()` is the same tensor, but has no source.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.relu_().squeeze_(0) + 1


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True).module()
    x = torch.ones(1, 2)
    return model(x.clone()), program(x)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AssertionError, torch._dynamo.exc.Unsupported) as error:
        bug = "Guard failed" in str(error)
        print(f"{'BUG' if bug else 'ok'}: the input of shape (1, 2): {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: the input of shape (1, 2) is accepted")
