# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: drops a full backward pre-hook of a module, without a warning"
# variant-of = "export_drops_hook_on_tensor"
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"], ["gradients", "mismatch", "value", "input"]]
# trigger = ["idiom.gradient_hook"]
# upstream = ""
# at-fault = "torch/utils/hooks.py, BackwardHook._apply_on_tensors: does not say that export records no hook"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A hook doubles the gradient of a layer. The program has no hook, and its gradients are half as large.

Each call of the module adds the hook to an autograd node, which no graph records. Export should refuse such a
model, as strict export does.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(1, 1)
        self.linear.register_full_backward_pre_hook(lambda module, outputs: (outputs[0] * 2,))

    def forward(self, x):
        return self.linear(x)  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, (x,) = make()
    program = torch.export.export(model, (x,), strict=False).module()
    (expected,) = torch.autograd.grad(model(x), model.linear.weight)
    (got,) = torch.autograd.grad(program(x), dict(program.named_parameters())["linear.weight"])
    return expected, got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} in the program")
    raise SystemExit(bug)
