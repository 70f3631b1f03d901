# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: RuntimeError for torch.autograd.grad of what a checkpoint computed"
# variant-of = "export_fails_on_autograd_grad_of_norm"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "We found fake tensor in the exported program"],
# ]
# trigger = ["op.autograd", "region.checkpoint"]
# upstream = "https://github.com/pytorch/pytorch/issues/146719"
# upstream-match = "mechanism"
# at-fault = "torch/fx/experimental/proxy_tensor.py, get_proxy_slot: looks for the very object of a tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns the derivative of what a checkpoint computed. Export raises RuntimeError about a fake
tensor, and asks to file an issue.

A checkpoint saves tensors with hooks. Autograd gives what hooks have saved back as a new tensor object, but
the tracer finds the proxy of a tensor by the object. So it finds none, and makes a constant of the fake
tensor, which export refuses. The tracer should recognize tensors that autograd has saved.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def forward(self, x):
        energy = checkpoint(torch.sin, x, use_reentrant=False).sum()
        return torch.autograd.grad(energy, x)[0]


def make():
    return Model(), (torch.ones(2, requires_grad=True),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "fake tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
