# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten runs a variant of a child that was given another number"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "arguments"]]
# fix = "unflatten_compares_graphs_by_content"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The second call multiplies by 3, the first by 2, and the unflattened module multiplies by 2 both times.

The two names of the child get a graph each, which differ in a number. The two graphs of `outer` differ in
the target of their call_module node alone, are taken for one, and `second` is never called. With 0, the
values do not show it.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x, n):
        return x * n


class Outer(torch.nn.Module):
    def forward(self, x, n):
        return self.first(x, n) if n == 2 else self.second(x, n)


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x, 2), 3) > 99


def make():
    model = Model()
    model.outer = Outer()
    model.outer.first = model.outer.second = Inner()
    return model, (torch.zeros(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(torch.tensor([20.0])), unflattened(torch.tensor([20.0]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: for 20, eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
