# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export itself writes a number into a tensor constant of one element"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant", "value"]]
# fix = "fold_no_writes_to_real_tensors"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call: runs a copy_ of a constant for real"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""Exporting a model must not change it: here it sets a scale to 2, which calls alone should do.

`self.scale[...] = 2.0` is a copy_ of a constant. proxy_call computes for real what has only constants for
arguments and one element, and takes a tensor that it does not trace for none of its concern: a plain
attribute, which non-strict export does not make fake, is written to. The first call of the program multiplies
by 2, not by 1.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(())

    def forward(self, x):
        y = x * self.scale
        self.scale[...] = 2.0
        return y


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return 1.0, model.scale.item()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: scale is {expected} before export, {got} after it")
    raise SystemExit(bug)
