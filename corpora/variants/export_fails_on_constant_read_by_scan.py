# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "non-strict export fails on a scan whose body reads a tensor attribute"
# variant-of = "export_updates_constants_for_real"
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
# at-fault = "torch/_dynamo/utils.py, clone_input: asks fake memory for its address"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The body reads `k`, an attribute that is no buffer: "Cannot access data pointer of Tensor".

The attribute stays a real tensor in non-strict export, and is handed to scan, whose trace_scan clones what it
is given. clone_input aligns a copy as the original is: memory that is allocated here is fake, and has no
address.
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


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the exported program {got}")
