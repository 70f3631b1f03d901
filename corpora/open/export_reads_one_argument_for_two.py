# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD154"
# title = "ep.module(): uses the last argument for both if the example passed one tensor twice"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "attention exported with (x, x, x) takes the value for query and key"
# evidence = ["https://github.com/pytorch/pytorch/issues/144683"]
# topics = ["arguments", "attention"]
# cause = """
# `make_fake_inputs` makes one fake tensor for a tensor that is passed twice, so that the tracer has one input
# for both arguments. No guard checks that later calls also pass the same tensor. Such a call should
# be refused."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "unlike"]]
# fix = "guard_arguments_given_twice"
# upstream = "https://github.com/pytorch/pytorch/issues/144683"
# upstream-match = "mechanism"
# at-fault = "torch/_export/non_strict_utils.py, make_fake_inputs: one fake tensor for a tensor given twice"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The example passes one tensor as query and key. Called with two tensors, the program ignores the query.

`make_fake_inputs` makes one fake tensor for a tensor that is passed twice, so that the tracer has one input
for both arguments. No guard checks that later calls also pass the same tensor. Such a call should be
refused.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, query, key):
        return query @ key


def make():
    x = torch.ones(2)
    return Model(), (x, x)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    query, key = torch.ones(2), 2 * torch.ones(2)
    return model(query, key), program(query, key)


def make_workaround():
    """Export with a separate tensor for each argument."""
    return Model(), (torch.ones(2), torch.ones(2))


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
