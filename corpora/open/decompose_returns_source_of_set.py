# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD057"
# title = "run_decompositions: the program returns the buffer itself instead of a tensor set_ to it"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "set_ to a buffer in forward()"
# topics = ["data-attribute", "buffers"]
# cause = """
# Functionalization gives the tensor the value of the source of `set_` itself (`set__impl`), so that both
# are one node of the graph. It should make an alias."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "buffer", "output", "new"]]
# fix = "functional_set_makes_an_alias"
# upstream = ""
# at-fault = """
# aten/src/ATen/FunctionalTensorWrapper.cpp, set__impl: takes the value of the source, not an alias"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`torch.neg(x).set_(self.buf)` shares the memory of the buffer, but is another tensor. Decomposed, it is the
buffer.

Functionalization gives the tensor the value of the source of `set_` itself (`set__impl`), so that both are
one node of the graph. It should make an alias.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return torch.neg(x).set_(self.buf)  # first difference


def make():
    model = Model()
    model.register_buffer("buf", torch.ones(2))
    return model, (torch.ones(2),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args) is model.buf, decomposed(*args) is decomposed.buf


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: result is the buffer: {expected} in eager, {got} decomposed")
    raise SystemExit(bug)
