# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD290"
# title = "torch.export: AssertionError if forward resets a buffer to a tensor that is a plain attribute"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a state that forward resets to a tensor in a plain attribute"
# topics = ["buffers", "constants"]
# cause = """
# To record which node a buffer is assigned from, `_map_assigned_buffer_to_proxy` asserts that the assigned
# tensor is a FakeTensor. Non-strict export makes parameters, buffers and inputs fake, but not plain
# attributes. The hook should make a node for such a tensor, as operators do."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "_symbolic_trace.py:call_module",
#         "_symbolic_trace.py:forward",
#         "utils.py:_map_assigned_buffer_to_proxy",
#     ],
# ]
# fix = "constant_assigned_to_buffer"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/utils.py, _map_assigned_buffer_to_proxy: asserts FakeTensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`self.state = self.initial`, where `initial` is a plain tensor attribute, cannot be exported.

To record which node a buffer is assigned from, `_map_assigned_buffer_to_proxy` asserts that the assigned
tensor is a FakeTensor. Non-strict export makes parameters, buffers and inputs fake, but not plain attributes.
The hook should make a node for such a tensor, as operators do.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.initial = torch.zeros(1)
        self.register_buffer("state", torch.ones(1))

    def forward(self, x):
        self.state = self.initial
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Assign a clone of the tensor."""

    class Cloning(Model):
        def forward(self, x):
            self.state = self.initial.clone()
            return x + 1

    return Cloning(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "expected FakeTensor, got" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
