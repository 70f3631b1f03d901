# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: RuntimeError \"Couldn't swap Linear.weight\" if forward calls self.head.to(x.dtype)"
# variant-of = "export_fails_on_module_moved_in_forward"
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
# upstream = ""
# at-fault = "torch/nn/modules/module.py, Module._apply: says \"Couldn't swap\" of a fake parameter"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward converts a layer to the dtype of its input. Export fails, and its message does not say why.

During export, the parameters are fake, and `Module._apply` cannot swap them with converted ones. Export could
not record that anyway. `Module._apply` should say that the model must be converted before export.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2).double()

    def forward(self, x):
        return self.head.to(x.dtype)(x)


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "torch.export does not record" in str(error):
            print("ok: export refuses in words:", error)
            raise SystemExit(0) from None
        if "Couldn't swap" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
