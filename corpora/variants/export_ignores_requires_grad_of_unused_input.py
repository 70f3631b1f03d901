# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "requires_grad_ on an input that is not used is left out of the graph"
# variant-of = "export_ignores_requires_grad_of_input"
# path = "nonstrict:module@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "requires-grad"]]
# fix = "record_requires_grad"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.requires_grad_"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model switches on gradients for a tensor of its caller; the exported program leaves it as it was.

Nothing is computed from `y`, so that it does not show in the outputs: the caller, who passed `y`, sees that
its flag was not set.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        y.requires_grad_()
        return x + 1


def make():
    return Model(), (torch.ones(1), torch.ones(1))


def show():
    model, args = make()
    _, y = make()[1]
    torch.export.export(model, args, strict=False).module()(*args[:1], y)
    model(*args)
    return args[1].requires_grad, y.requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: y requires grad: {expected} after eager, {got} after the program")
    raise SystemExit(bug)
