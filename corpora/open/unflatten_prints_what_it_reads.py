# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD266"
# title = "unflatten: prints \"Checking mutability\" for a preserved submodule"
# harm = "cosmetic"
# reach = "occasional"
# reach-because = "a preserved submodule whose buffer its parent updates: lines on standard output"
# topics = ["buffers"]
# cause = """
# `_IVals.read` has a print for each updated buffer that a preserved submodule reads. It is left from
# debugging."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "lower", "prints", "standard output"]]
# fix = "unflatten_prints_nothing"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _IVals.read: print(\"Checking mutability\", ...)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""unflatten prints "Checking mutability ..." on standard output for some models.

`_IVals.read` has a print for each updated buffer that a preserved submodule reads. It is left from debugging.
"""

import contextlib
import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.child.running_mean.add_(1)
        return self.child(x)


def make():
    model = Model()
    model.child = torch.nn.BatchNorm1d(1)
    return model.eval(), (torch.ones(1, 1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        torch.export.unflatten(ep)
    return "", printed.getvalue()


def make_workaround():
    """Update the buffer in the submodule that reads it."""

    class Shifting(torch.nn.BatchNorm1d):
        def forward(self, x):
            self.running_mean.add_(1)
            return super().forward(x)

    class Calling(Model):
        def forward(self, x):
            return self.child(x)

    model = Calling()
    model.child = Shifting(1)
    return model.eval(), (torch.ones(1, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: unflatten prints {got!r}")
    raise SystemExit(bug)
