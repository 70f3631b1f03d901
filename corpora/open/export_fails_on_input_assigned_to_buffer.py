# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD104"
# title = "torch.export: SpecViolationError for self.last = x, a buffer that keeps the last input"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a buffer that keeps the last input: export fails"
# topics = ["buffers"]
# cause = """
# `_make_fx_helper` ends the graph with a copy_ into the buffer, with the metadata of the node that is
# assigned. An input has no nn_module_stack, and `_verify_nn_module_stack` demands one of the copy_."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "SpecViolationError", "_trace.py:_verify_nn_module_stack"]]
# fix = "write_back_clones_of_assigned_buffers"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _make_fx_helper: `new_node.meta = name_node.meta` of a placeholder"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`self.last = x`, where `last` is a buffer: the verifier of export rejects the graph that export has made.

`_make_fx_helper` ends the graph with a copy_ into the buffer, with the metadata of the node that is assigned.
An input has no nn_module_stack, and `_verify_nn_module_stack` demands one of the copy_.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.last = x
        return x + 1


def make():
    model = Model()
    model.register_buffer("last", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Write the input into the buffer instead of assigning it."""

    class Writing(Model):
        def forward(self, x):
            self.last.copy_(x)
            return x + 1

    model = Writing()
    model.register_buffer("last", torch.zeros(1))
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
