# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD215"
# title = "torch.export(strict=True): exporting an LSTM with spectral_norm updates its buffers"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "spectral_norm on a recurrent layer, exported in training mode"
# topics = ["norms", "recurrent"]
# cause = """
# An LSTM asks whether it has each weight, and Dynamo makes a guard of it. `GuardBuilder.HASATTR` calls
# `hasattr` on the model itself. The weight is a property, and each read of it is a step of the power method,
# which updates the buffer."""
# path = "strict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "buffer", "value"]]
# fix = "guards_run_no_properties"
# upstream = "https://github.com/pytorch/pytorch/issues/111522"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/user_defined.py, call_obj_hasattr: its guard runs properties"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Strict export of an LSTM with spectral_norm changes the buffers of the model.

An LSTM asks whether it has each weight, and Dynamo makes a guard of it. `GuardBuilder.HASATTR` calls
`hasattr` on the model itself. The weight is a property, and each read of it is a step of the power method,
which updates the buffer.
"""

import sys

import torch
from torch.nn.utils.parametrizations import spectral_norm


def make():
    torch.manual_seed(0)
    return spectral_norm(torch.nn.LSTM(3, 3), "weight_ih_l0"), (torch.ones(2, 3),)


def show():
    model, args = make()
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    torch.export.export(model, args, strict=True)
    return before, dict(model.named_buffers())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not all(torch.equal(expected[name], got[name]) for name in expected)
    print(f"{'BUG' if bug else 'ok'}: export {'changed' if bug else 'left'} the buffers of the model")
    raise SystemExit(bug)
