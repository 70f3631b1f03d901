# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: SpecViolationError for a torch.cond that adds a weight to a buffer"
# variant-of = "decompose_fails_on_write_in_branch"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SpecViolationError"]]
# fix = "branches_may_write_when_decomposed"
# upstream = ""
# at-fault = "torch/_higher_order_ops/auto_functionalize.py, auto_functionalized_v2_dense: autograd is on"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One branch of torch.cond adds a parameter to a buffer under no_grad. The model exports, but
run_decompositions raises.

The verifier demands that the graph of a branch has no operator that writes. Where it allows this, there is a
second mistake: the decomposed program has lost the no_grad block, and a torch.cond that writes raises if
gradients are on.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.register_buffer("total", torch.zeros(1))

    def added(self, x):
        self.total.add_(self.weight)
        return x * 2

    def forward(self, x):
        with torch.no_grad():
            return torch.cond(x.sum() > 0, self.added, torch.neg, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False)
    module = program.run_decompositions().module()
    got = module(*args), module.total
    return (model(*args), model.total), got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: run_decompositions raises SpecViolationError: {error}")
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
