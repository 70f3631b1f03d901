# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD106"
# title = "torch.export: SpecViolationError if the model returns the float NaN"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a metric or a score that is undefined for the example, returned as a float"
# topics = ["arguments"]
# cause = "The verifier compares constant outputs with `!=`, and NaN is not equal to itself."
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "SpecViolationError",
#         "exported_program.py:_validate",
#         "verifier.py:check",
#         "verifier.py:_verify_exported_program_signature",
#     ],
# ]
# fix = "nan_is_an_output"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/verifier.py, _verify_exported_program_signature: NaN is unequal to itself"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model may return any float, but for NaN export raises SpecViolationError.

The verifier compares constant outputs with `!=`, and NaN is not equal to itself.
"""

import math
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1, math.nan


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


def make_workaround():
    """Return the tensor only, and add the NaN after the call."""

    class Shorter(Model):
        def forward(self, x):
            return x + 1

    return Shorter(), (torch.ones(1),)


def workaround_call(module, x):
    return module(x), math.nan


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r}")
    print(f"ok: eager returns {expected}, the exported program {got!r}")
