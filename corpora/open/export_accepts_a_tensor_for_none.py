# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD072"
# title = "ep.module(): ignores a tensor that is passed for an argument that was None at export"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "an optional mask that was None at export is ignored later"
# evidence = ["zoo:module_db/nn.MultiheadAttention"]
# topics = ["arguments", "attention"]
# cause = """
# The documentation of torch.export says of static inputs such as None: "passing a different value at run time
# will result in an error". `_get_input_guards_for_graph` makes guards for int, float and str, and should make
# one for None."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "none"]]
# fix = "guard_that_none_stays_none"
# upstream = "https://github.com/pytorch/pytorch/issues/112095"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: no case for None"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An optional argument was None at export. The program accepts a tensor for it, and ignores it.

The documentation of torch.export says of static inputs such as None: "passing a different value at run time
will result in an error". `_get_input_guards_for_graph` makes guards for int, float and str, and should make
one for None.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, bias):
        return x if bias is None else x + bias


def make():
    return Model(), (torch.ones(1), None)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    x = torch.ones(1)
    return model(x, x), program(x, x)


def make_workaround():
    """Leave the optional argument out instead of passing None: then a call with it is refused."""

    class Optional(Model):
        def forward(self, x, bias=None):
            return x if bias is None else x + bias

    return Optional(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: eager raises nothing, the exported program {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
