# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD125"
# title = "torch.export: x.requires_grad_() is not recorded, without a warning"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "requires_grad_() on an input, as for forces or a gradient penalty: silently ignored"
# evidence = ["https://github.com/pytorch/pytorch/issues/146719"]
# topics = ["autograd"]
# cause = """
# requires_grad_ sets a flag in C++ and calls no operator. PreDispatchTorchFunctionMode records nothing; it
# should record or refuse it. `program(x).sum().backward()` raises, where eager fills `x.grad`."""
# path = "nonstrict:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# fix = "record_requires_grad"
# upstream = "https://github.com/pytorch/pytorch/pull/186522"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/186522"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.requires_grad_"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model calls `x.requires_grad_()` on its input. The program does not, so that its result requires no
grad.

requires_grad_ sets a flag in C++ and calls no operator. PreDispatchTorchFunctionMode records nothing; it
should record or refuse it. `program(x).sum().backward()` raises, where eager fills `x.grad`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.requires_grad_()  # first difference
        return x * 2


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return model(torch.ones(1)).requires_grad, program(torch.ones(1)).requires_grad


def make_workaround():
    """Call requires_grad_() on the input before you give it to the model."""

    class Plain(Model):
        def forward(self, x):
            return x * 2

    return Plain(), (torch.ones(1).requires_grad_(),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result requires grad: {expected} in eager, {got} in the program")
    raise SystemExit(bug)
