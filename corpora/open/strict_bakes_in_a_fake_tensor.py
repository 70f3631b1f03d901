# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD198"
# title = "torch.export(strict=True): a model that reads x.data returns fake tensors"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "x.data in forward, in place of x.detach(), and strict=True"
# topics = ["data-attribute"]
# cause = """
# For `.data`, Dynamo puts a call of `_get_data_attr` into its graph. This calls no operator, so that the
# tracer of export has no proxy for its result, and makes a constant of the fake tensor. Dynamo should record
# detach."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind"]]
# fix = "strict_records_reading_of_data"
# upstream = "https://github.com/pytorch/pytorch/pull/161589"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/tensor.py, TensorVariable.method_attr_data: _get_data_attr"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model computes `x.data + 1`. The program does not read its input, and returns a FakeTensor without
data.

For `.data`, Dynamo puts a call of `_get_data_attr` into its graph. This calls no operator, so that the tracer
of export has no proxy for its result, and makes a constant of the fake tensor. Dynamo should record detach.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.data + 1  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


def make_workaround():
    """Call detach() instead of reading .data."""

    class Detaching(Model):
        def forward(self, x):
            return x.detach() + 1

    return Detaching(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)
