# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD289"
# title = "ep.module(): accepts an input with more dimensions than at export, and gives a wrong result"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "a model that adds a batch dimension if there is none, called with a batch"
# evidence = ["zoo:module_db/nn.LSTM"]
# topics = ["arguments", "dynamic-sizes"]
# cause = """
# The guards check `x.size()[0]` only, and a batch of three samples has that size as well. There should also
# be a guard for the number of dimensions. The older check `_check_input_constraints_for_graph` in
# torch/_export/utils.py, which unflatten still uses, compares it."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "rank"]]
# fix = "guard_number_of_dimensions"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: no guard for the number of dimensions"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model adds a batch dimension to a single sample. Exported with one, the program also does so for a
batch.

The guards check `x.size()[0]` only, and a batch of three samples has that size as well. There should also be
a guard for the number of dimensions. The older check `_check_input_constraints_for_graph` in
torch/_export/utils.py, which unflatten still uses, compares it.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x if x.dim() > 1 else x.unsqueeze(0)


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    batch = torch.ones(3, 3)
    return model(batch).shape, program(batch).shape


def workaround_call(module, x):
    """Compare the number of dimensions with that of the example before the call."""
    if x.dim() != 1:
        raise ValueError("the program is for a single sample")
    return module(x)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: eager raises nothing, the exported program {error}")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives shape {expected}, the exported program {got}")
    raise SystemExit(bug)
