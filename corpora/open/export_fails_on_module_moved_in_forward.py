# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD334"
# title = "torch.export: RuntimeError \"Couldn't swap Linear.weight\" if forward calls self.head.to(x.device)"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that moves a lazily placed head or expert to the device of its input"
# topics = ["attributes", "dtypes"]
# cause = """
# During export, the parameters are fake. `Module._apply` swaps each of them with the result of the
# conversion, even if that changes nothing, and a tensor with weak references cannot be swapped. It should
# leave such parameters alone."""
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
#         "proxy_tensor.py:call_module",
#         "_symbolic_trace.py:call_module",
#         "_symbolic_trace.py:forward",
#     ],
# ]
# fix = "unchanged_fake_parameters_stay"
# upstream = "https://github.com/pytorch/pytorch/issues/145529"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/nn/modules/module.py, Module._apply: swaps a fake parameter that does not change"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward moves a submodule to the device of its input. In eager, this changes nothing; export raises.

During export, the parameters are fake. `Module._apply` swaps each of them with the result of the
conversion, even if that changes nothing, and a tensor with weak references cannot be swapped. It should
leave such parameters alone.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        return self.head.to(x.device)(x)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Move the whole model before it is exported, and nothing in forward."""

    class Moved(Model):
        def forward(self, x):
            return self.head(x)

    torch.manual_seed(0)
    return Moved().to("cpu"), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Couldn't swap" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
