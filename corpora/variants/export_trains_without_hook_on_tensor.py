# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: training the program ignores a hook that forward registers on a tensor"
# variant-of = "export_drops_hook_on_tensor"
# path = "nonstrict+trained:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# trigger = ["op.gradient_hook"]
# upstream = ""
# at-fault = "torch/_tensor.py, Tensor.register_hook: does not say that export records no hook"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A hook doubles a gradient. In eager, a step of SGD moves the weight from 1 to -1. The program has no hook,
and moves it to 0: the next result is another one.

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
        return y


def make():
    return Model(), (torch.ones(1),)


def trained(module, x):
    optimizer = torch.optim.SGD(module.parameters(), 1)
    module(x).sum().backward()
    optimizer.step()
    return module(x).detach()


def show():
    model, (x,) = make()
    program = torch.export.export(make()[0], (x,)).module()
    return trained(model, x), trained(program, x)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: after one step, eager returns {expected}, the trained program {got}")
    raise SystemExit(bug)
