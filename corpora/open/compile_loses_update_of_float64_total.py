# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: an update in place of a float64 tensor without dimensions is lost"
# severity = "B"
# severity-because = "code that adds a loss to a total in double precision that it is given: silently wrong"
# cause = """
# Dynamo removes the inputs that a specialized float comes from, and with them operators that nothing reads
# and whose value is the input: those that update it."""
# path = "compile:aot_eager@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# fix = "only_inputs_of_specialized_floats_are_removed"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/_dynamo/output_graph.py, remove_tensorify_specialized_graphargs: any node without users"
# ///
"""The model adds the loss to a total that it is given; compiled, the total stays zero.

The total has type float64 and no dimension. Of such a tensor Dynamo keeps the number that it holds.
"""

import sys

import torch
from torch import nn


class Loss(nn.Module):
    def forward(self, x, total):
        loss = x.square().sum()
        total.add_(loss)
        return loss


def make():
    return Loss(), (torch.ones(3), torch.zeros((), dtype=torch.float64))


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    model(*args)
    expected = args[1].item()
    model, args = make()
    torch.compile(model, backend="aot_eager")(*args)
    seen = args[1].item()
    bug = seen != expected
    print(f"{'BUG' if bug else 'ok'}: in eager the total is {expected}, compiled it is {seen}")
    raise SystemExit(bug)
