# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD385"
# title = "torch.export(strict=True): after an export that raised inside torch.func.grad, backward() raises"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "an export that raises in torch.func, and a process that goes on: a notebook, a test"
# topics = ["autograd", "exceptions"]
# cause = """
# The graph of Dynamo calls `_grad_increment_nesting`, then the function, then `_grad_decrement_nesting`,
# without try and finally. `Interpreter.run` runs it for export. If a node between them raises, nothing leaves
# the level. `Interpreter.run` should leave the levels that its nodes have entered."""
# path = "strict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "global", "functorch level"]]
# fix = "interpreters_leave_levels_when_they_raise"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/fx/interpreter.py, Interpreter.run: does not leave levels when a node raises"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A strict export raises inside of torch.func.grad. The process stays inside of it: a later backward() of any
other tensor raises.

The graph of Dynamo calls `_grad_increment_nesting`, then the function, then `_grad_decrement_nesting`,
without try and finally. `Interpreter.run` runs it for export. If a node between them raises, nothing leaves
the level. `Interpreter.run` should leave the levels that its nodes have entered.
"""

import contextlib
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.func.grad(lambda x: (0.5 * x).sum())(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    with contextlib.suppress(RuntimeError):  # it raises, and this is another bug
        torch.export.export(model, args, strict=True)
    try:
        torch.ones(2, requires_grad=True).sum().backward()
    except RuntimeError as error:
        return "no error", str(error)
    return "no error", "no error"


def make_workaround():
    """Compute the derivative with torch.func.jvp, which export can record."""

    class Derivative(Model):
        def forward(self, x):
            return torch.func.jvp(lambda x: x * 0.5, (x,), (torch.ones_like(x),))[1]

    return Derivative(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after an export that raised, backward() raises: {got:.70}")
    raise SystemExit(bug)
