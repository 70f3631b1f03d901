# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD327"
# former-ids = ["XD087"]
# title = "torch.export: a tensor made without a dtype gets the default dtype of the call, not of the export"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "export in a process with float64 as default dtype, calls in another process"
# topics = ["dtypes", "constants"]
# cause = """
# The graph has `aten.linspace` without a dtype. The program records float64 for its result, and returns
# float32 once the default dtype is float32 again, as it is in another process. The tracer should record the
# dtype of the result."""
# path = "nonstrict+under_float64:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype", "fresh"]]
# fix = "record_dtype_of_new_tensors"
# upstream = ""
# upstream-searched = "2026-11-26"
# workaround = "code"
# at-fault = """
# torch/fx/experimental/proxy_tensor.py, proxy_call: the operator is recorded with the arguments of its call,
# without the dtype of its result"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model is exported while the default dtype is float64. Later, its result is float32, without an error.

The graph has `aten.linspace` without a dtype. The program records float64 for its result, and returns float32
once the default dtype is float32 again, as it is in another process. The tracer should record the dtype of
the result.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * torch.linspace(0, 1, 3)  # first difference


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    torch.set_default_dtype(torch.float64)
    expected = model(*args)
    module = torch.export.export(model, args).module()
    torch.set_default_dtype(torch.float32)
    return expected.dtype, module(*args).dtype


def make_workaround():
    """Give each tensor that forward makes a dtype."""

    class Typed(Model):
        def forward(self, x):
            return x * torch.linspace(0, 1, 3, dtype=x.dtype)

    return Typed(), (torch.ones(3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
