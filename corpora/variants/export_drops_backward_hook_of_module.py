# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: a full backward hook of a module is silently left out"
# variant-of = "export_drops_hook_on_tensor"
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# fix = "export_refuses_hooks_on_tensors"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/utils/hooks.py, BackwardHook._apply_on_tensors: does not say that export records no hook"
# ///
"""A hook reverses the gradient, as for domain adaptation; the exported program lets it pass unchanged.

Each call of the module puts the hook on the function that made its input, which is in no graph. Strict export
refuses such a model.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)
        self.linear.register_full_backward_hook(lambda module, inputs, outputs: (-inputs[0],))

    def forward(self, x):
        return self.linear(x)


def make():
    return Model(), (torch.ones(1, requires_grad=True),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, (x,) = make()
    try:
        program = torch.export.export(model, (x,), strict=False).module()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        sys.exit(0)
    (expected,) = torch.autograd.grad(model(x), x)
    (seen,) = torch.autograd.grad(program(x), x)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {seen} in the program")
    sys.exit(bug)
