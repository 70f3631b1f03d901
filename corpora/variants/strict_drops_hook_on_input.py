# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): drops a hook that forward registers on an input, without a warning"
# variant-of = "export_drops_hook_on_tensor"
# path = "strict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "input"]]
# trigger = ["op.gradient_hook"]
# upstream = ""
# at-fault = "torch/_dynamo/variables/tensor.py, _method_register_hook: a side effect that no graph records"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In eager, a hook that forward registers on its input doubles the gradient. The program has no hook, and
nothing warns.

Dynamo records a hook on an input as a side effect, for the code around its graph. Export drops this code. It
should refuse the hook.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.register_hook(lambda grad: grad * 2)
        return x * 3


def make():
    return Model(), (torch.ones(1, requires_grad=True),)


def gradient(module):
    _, (x,) = make()
    return torch.autograd.grad(module(x), x)[0].item()


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True).module()
    return gradient(model), gradient(program)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} in the program")
    raise SystemExit(bug)
