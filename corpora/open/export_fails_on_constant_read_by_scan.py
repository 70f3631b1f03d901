# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD295"
# title = "torch.export: RuntimeError for a scan whose body reads a plain tensor attribute"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a scan whose body reads a tensor that is no buffer"
# topics = ["control-flow", "constants"]
# cause = """
# Non-strict export leaves `k` a real tensor. `trace_scan` clones it with `clone_input`, which allocates
# memory and aligns it like the original. Under the fake mode this memory is fake and has no address.
# `clone_input` should use `torch.clone` there."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "scan.py:scan_proxy_mode",
#         "scan.py:trace_scan",
#         "utils.py:clone_input",
#     ],
# ]
# fix = "clone_constants_under_fake_mode"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/utils.py, clone_input: asks fake memory for its address"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The body of `scan` reads `self.k`, a plain tensor attribute. Export says "Cannot access data pointer of
Tensor".

Non-strict export leaves `k` a real tensor. `trace_scan` clones it with `clone_input`, which allocates memory
and aligns it like the original. Under the fake mode this memory is fake and has no address. `clone_input`
should use `torch.clone` there.
"""

import sys

import torch
from torch import nn
from torch._higher_order_ops.scan import scan


class Model(nn.Module):
    def forward(self, x):
        return scan(lambda carry, row: (carry + row, row + self.k), torch.zeros(2), x)[1]


def make():
    model = Model()
    model.k = torch.ones(2)
    return model, (torch.ones(3, 2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


def make_workaround():
    """Register the tensor as a buffer."""
    model = Model()
    model.register_buffer("k", torch.ones(2), persistent=False)
    return model, (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the exported program {got}")
