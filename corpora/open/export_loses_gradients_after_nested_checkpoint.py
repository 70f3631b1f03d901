# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD136"
# title = "torch.export: no gradients after a checkpoint inside a checkpoint"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "an autograd.Function, as in BLOOM, or a checkpoint in a checkpoint: trained after export"
# evidence = ["zoo:transformers/bloom"]
# topics = ["checkpoint", "autograd", "no-grad"]
# cause = """
# To save its input, the inner checkpoint calls a hook of the outer one, which enters torch.no_grad().
# Autograd has switched gradients off around the hook, in C++, so that no_grad restores "off" at its end.
# Export records both changes, but not what C++ does afterwards. So all that follows is in a no_grad block."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# fix = "record_no_grad_mode_of_autograd"
# upstream = "https://github.com/pytorch/pytorch/pull/185140"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: _set_grad_enabled"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A checkpoint in a checkpoint: `backward()` of the result works in eager, and raises after export.

To save its input, the inner checkpoint calls a hook of the outer one, which enters torch.no_grad(). Autograd
has switched gradients off around the hook, in C++, so that no_grad restores "off" at its end. Export records
both changes, but not what C++ does afterwards. So all that follows is in a no_grad block.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def inner(self, x):
        return checkpoint(torch.sin, x, use_reentrant=False)  # first difference

    def forward(self, x):
        return checkpoint(self.inner, x, use_reentrant=False) * 2


def make():
    return Model(), (torch.ones(1, requires_grad=True),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return model(*args).requires_grad, program(*args).requires_grad


def make_workaround():
    """Use the outer checkpoint only."""

    class Flat(Model):
        def inner(self, x):
            return torch.sin(x)

    return Flat(), (torch.ones(1, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result requires grad: {expected} in eager, {got} in the program")
    raise SystemExit(bug)
