# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD124"
# title = "torch.export: y.data = x is not recorded, without a warning"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "`.data =` in forward(): silently ignored"
# topics = ["data-attribute"]
# cause = """
# The setter of Tensor.data works in C++ and calls no operator, so that PreDispatchTorchFunctionMode records
# nothing. It should record or refuse it."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# unmasked = [
#   # The fix writes under no_grad. Export under no_grad drops this block (XD412).
#   ["outputs", "crash", "run", "RuntimeError", "leaf Variable that requires grad is being used"],
# ]
# fix = "record_assignment_to_data"
# upstream = "https://github.com/pytorch/pytorch/issues/113030"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model assigns `y.data = x + 1` and returns y. The program returns the old y, zeros, and nothing warns.

The setter of Tensor.data works in C++ and calls no operator, so that PreDispatchTorchFunctionMode records
nothing. It should record or refuse it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)
        y.data = x + 1  # first difference
        return y


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return model(*args), program(*args)


def make_workaround():
    """Give the name another tensor."""

    class Naming(Model):
        def forward(self, x):
            return x + 1

    return Naming(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)
