# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD088"
# title = "torch.export: silently drops a hook that forward registers on a tensor"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "hooks that scale, clip or reverse gradients, in a model that is trained after export"
# topics = ["hooks"]
# cause = "`Tensor.register_hook` calls no operator, so that no graph records it. Export should refuse it."
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "value", "state"]]
# trigger = ["op.gradient_hook"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_tensor.py, Tensor.register_hook: does not say that export records no hook"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In eager, a hook that forward registers on a tensor doubles the gradient. The program has no hook, and
nothing warns.

`Tensor.register_hook` calls no operator, so that no graph records it. Export should refuse it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        y = x * self.w
        y.register_hook(lambda grad: grad * 2)  # first difference
        return y + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    (expected,) = torch.autograd.grad(model(*args), model.w)
    (got,) = torch.autograd.grad(program(*args), program.w)
    return expected, got


def make_workaround():
    """Scale the gradient by arithmetic with a detached copy."""

    class Scaling(Model):
        def forward(self, x):
            y = x * self.w
            y = y * 2 - y.detach()
            return y + 1

    return Scaling(), (torch.ones(1),)


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
