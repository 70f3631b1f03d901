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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call: runs a copy_ of a constant for real"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    torch.export.export(model, args)
    bug = bool(model.scale != 1)
    print(f"{'BUG' if bug else 'ok'}: scale is 1.0 before export, {model.scale.item()} after it")
    raise SystemExit(bug)
