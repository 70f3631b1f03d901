# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD337"
# title = "run_decompositions: what forward computes under torch.no_grad gets a gradient"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "distillation: a teacher that forward runs under no_grad is trained once it is decomposed"
# topics = ["autograd", "no-grad"]
# cause = """
# run_decompositions traces the program under no_grad, where wrap_with_set_grad_enabled only calls its body:
# the graph has the operators of the block, and nothing says that they run without gradients."""
# path = "nonstrict+functionalize:module@cpu"
# check = "gradients"
# kind = "mismatch"
# status = "open"
# signatures = [["gradients", "mismatch", "none", "state", "new"]]
# fix = "decomposed_no_grad_blocks_stop_gradients"
# upstream = "https://github.com/pytorch/pytorch/pull/129249"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# defended = """
# https://github.com/pytorch/pytorch/blob/v2.13.0/torch/export/exported_program.py#L375: it is
# supposed to specialize to a post-autograd graph"""
# at-fault = "torch/_higher_order_ops/wrap.py, WrapWithSetGradEnabled: nothing of it is in the traced graph"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The teacher of a distilled model gets gradients once the program is decomposed, even with an empty table.

PyTorch calls the result of run_decompositions an inference IR. But its module has parameters that require
gradients, and computes gradients without a warning.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.student = torch.nn.Linear(1, 1)
        self.teacher = torch.nn.Linear(1, 1)

    def forward(self, x):
        with torch.no_grad():
            target = self.teacher(x)  # first difference
        return torch.nn.functional.mse_loss(self.student(x), target)


def make():
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    program = torch.export.export(make()[0], args).run_decompositions({}).module()
    model(*args).backward()
    program(*args).backward()
    return model.teacher.weight.grad is None, program.teacher.weight.grad is None


def make_workaround():
    """Freeze the parameters of what runs under no_grad."""

    class Frozen(Model):
        def __init__(self):
            super().__init__()
            self.teacher.requires_grad_(False)

    return Frozen(), (torch.ones(1, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the teacher has no gradient: {expected} in eager, {got} decomposed")
    raise SystemExit(bug)
