# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD307"
# title = "torch.export: the export itself sets a scalar tensor attribute that forward sets"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a scalar tensor in a plain attribute that forward sets"
# topics = ["constants", "in-place"]
# cause = """
# `self.scale[...] = 2.0` is a copy_ into a tensor of one element. `proxy_call` runs operators on such small
# constants for real, to keep their values up to date. `scale` is a plain attribute, which non-strict export
# does not make fake, so that it writes to the user's own tensor. The first call of the program then
# multiplies by 2 and not by 1. `proxy_call` should not run operators that write to a tensor that is not
# traced."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "constant", "value"]]
# fix = "fold_no_writes_to_real_tensors"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, proxy_call: runs a copy_ of a constant for real"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""Exporting must not change the model, but it sets `model.scale` to 2. Only a call of the model should do
this.

`self.scale[...] = 2.0` is a copy_ into a tensor of one element. `proxy_call` runs operators on such small
constants for real, to keep their values up to date. `scale` is a plain attribute, which non-strict export
does not make fake, so that it writes to the user's own tensor. The first call of the program then multiplies
by 2 and not by 1. `proxy_call` should not run operators that write to a tensor that is not traced.
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


def make_workaround():
    """Register the tensor as a buffer."""

    class Registered(Model):
        def __init__(self):
            super().__init__()
            del self.scale
            self.register_buffer("scale", torch.ones(()), persistent=False)

    return Registered(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: scale is {expected} before export, {got} after it")
    raise SystemExit(bug)
