# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD156"
# title = "torch.export(strict=False): an operator that raises inside try and except stays in the program"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that tries a view, and does something else if it does not fit"
# topics = ["exceptions"]
# cause = """
# `proxy_call` makes the node of an operator before it runs the operator, and leaves it in the graph if the
# operator raises."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError"]]
# unmasked = [
#   # check_inplace_broadcast compares the sizes of tensors of other ranks, which guards on them.
#   ["guards", "crash", "refused", "size", "probe"],
# ]
# fix = "operators_that_raise_are_not_recorded"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call: create_proxy comes before func"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model tries a view, and catches the error if it does not fit. The exported program raises this error.

`proxy_call` makes the node of an operator before it runs the operator, and leaves it in the graph if the
operator raises.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        try:
            x = x.view(-1, 2)
        except RuntimeError:
            x = x[None]
        return x + 1


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return model(*args), program(*args)


def make_workaround():
    """Ask for what the operator needs, instead of catching its error."""

    class Asking(Model):
        def forward(self, x):
            x = x.view(-1, 2) if x.numel() % 2 == 0 else x[None]
            return x + 1

    return Asking(), (torch.ones(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "is invalid for input of size" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the program raises {type(error).__name__}")
    print(f"ok: eager gives {expected}, the program {got}")
