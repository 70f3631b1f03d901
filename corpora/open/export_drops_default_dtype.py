# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD087"
# title = "torch.export: torch.set_default_dtype in forward has no effect in the program"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a part that needs float64 and sets the default dtype: computed in float32"
# topics = ["dtypes"]
# cause = """
# Export records `linspace` without a dtype, so that the default dtype of the caller decides when the program
# runs. `set_default_dtype` is not recorded. Export should record the dtype, or refuse `set_default_dtype`."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
# fix = "export_refuses_to_set_default_dtype"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/__init__.py, set_default_dtype; torch/fx/experimental/proxy_tensor.py records dtype=None"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward sets the default dtype to float64 and makes a grid. The program makes the grid in float32.

Export records `linspace` without a dtype, so that the default dtype of the caller decides when the program
runs. `set_default_dtype` is not recorded. Export should record the dtype, or refuse `set_default_dtype`.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        torch.set_default_dtype(torch.float64)
        grid = torch.linspace(0, 1, 3)  # first difference
        torch.set_default_dtype(torch.float32)
        return x + grid


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args).dtype, program(*args).dtype


def make_workaround():
    """Pass the dtype to the factory."""

    class Passing(Model):
        def forward(self, x):
            return x + torch.linspace(0, 1, 3, dtype=torch.float64)

    return Passing(), (torch.ones(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "cannot record" not in str(error):
            raise
        print("ok: export refuses the model")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result has dtype {expected} in eager, {got} after export")
    raise SystemExit(bug)
