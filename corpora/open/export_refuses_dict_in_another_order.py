# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD157"
# title = "ep.module(): refuses a dict with its keys in another order if one of its values is a container"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a batch given as a dict, with keys in another order than at export"
# topics = ["containers"]
# cause = """
# `eq_spec` compares the keys of two dicts as sets, and then their values by position: a tensor with a tuple.
# It should compare the values by key. Dicts with tensors only are accepted in any order."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# undetected-because = "all calls give the keys of a dict in the order of the example"
# fix = "compare_dicts_by_key"
# upstream = "https://github.com/pytorch/pytorch/pull/162618"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_unlift.py, eq_spec: the children of dicts are compared by position"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The batch is a dict with a tensor and a tuple. `ep.module()` refuses it if the keys are in another order
than at export.

`eq_spec` compares the keys of two dicts as sets, and then their values by position: a tensor with a tuple. It
should compare the values by key. Dicts with tensors only are accepted in any order.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x["a"] + x["b"][0]


def make():
    return Model(), ({"a": torch.ones(1), "b": (torch.ones(1),)},)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    program({"b": (torch.ones(1),), "a": torch.ones(1)})


def workaround_call(module, x):
    """Give the keys in the order that they had at export."""
    return module({"a": x["a"], "b": x["b"]})


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print("ok: neither eager nor the exported program raises")
