# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD403"
# title = "run_decompositions: a write to an argument goes to the buffer of the same name"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a cache that is passed to forward, in a model with a buffer of that name"
# topics = ["arguments", "buffers", "kv-cache", "names"]
# cause = """
# A functional graph returns the new values of inputs and of buffers. module() adds operators that copy them
# to their targets. It looks up the name of the target among parameters and buffers first, and only then
# among inputs, though the signature says which of the two it is."""
# path = "nonstrict+decompose:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# fix = "program_writes_to_the_input_not_to_its_namesake"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = """
# torch/export/_unlift.py, _insert_copy_for_mutations: `if mutated_node_name in unlifted_name_to_node`, for a
# name that may be that of an input"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model adds x to its argument `cache`, and has a buffer `cache`. Decomposed, it adds x to the buffer.

A functional graph returns the new values of inputs and of buffers. module() adds operators that copy them
to their targets. It looks up the name of the target among parameters and buffers first, and only then
among inputs, though the signature says which of the two it is.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(2))

    def forward(self, x, cache):
        cache.add_(x)  # first difference
        return cache * 2


def make():
    return Model(), (torch.ones(2), torch.zeros(2))


def show():
    model, args = make()
    program = torch.export.export(model, args).run_decompositions().module()
    expected, got = make()[1], make()[1]
    model(*expected)
    program(*got)
    return expected[1], got[1]


def make_workaround():
    """Give the argument a name that no buffer has."""

    class Renamed(Model):
        def forward(self, x, given):
            given.add_(x)
            return given * 2

    return Renamed(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager leaves {expected} in its argument, the program {got}")
    raise SystemExit(bug)
