# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD134"
# title = "torch.export: results of torch.autograd.grad require grad in the program, but not in eager"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "forces as the derivative of an energy: .numpy() raises, and training keeps their graph"
# topics = ["autograd"]
# cause = """
# Without create_graph, the autograd engine runs backward with gradients off. It switches them off in C++, and
# the tracer records only changes of the grad mode that Python makes. So the program runs the operators of
# backward with gradients on."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# fix = "export_records_grad_mode_of_autograd_grad"
# upstream = "https://github.com/pytorch/pytorch/pull/185496"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185496"
# upstream-searched = "2026-11-26"
# at-fault = "torch/autograd/__init__.py, grad: leaves grad mode to the engine, where no tracer sees it"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward returns the result of `torch.autograd.grad`. It requires no grad in eager, but in the program it
does.

Without create_graph, the autograd engine runs backward with gradients off. It switches them off in C++, and
the tracer records only changes of the grad mode that Python makes. So the program runs the operators of
backward with gradients on.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, positions):
        energy = positions.square().sum()
        (gradient,) = torch.autograd.grad(energy, positions)  # first difference
        return gradient


def make():
    return Model(), (torch.ones(2, requires_grad=True),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args).requires_grad, program(*args).requires_grad


def make_workaround():
    """Detach the gradient."""

    class Detaching(Model):
        def forward(self, positions):
            energy = positions.square().sum()
            (gradient,) = torch.autograd.grad(energy, positions)
            return gradient.detach()

    return Detaching(), (torch.ones(2, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result requires grad: {expected} in eager, {got} in the program")
    raise SystemExit(bug)
