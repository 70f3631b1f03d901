# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls of other graphs, which shows once the state has other values"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "edit", "value"]]
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
"""One call multiplies by `w`, the other divides by it: the same while `w` is 1, and wrong afterwards.

So an unflattened model can pass every test with its first weights and compute something else with those that
it is trained to, or loaded with.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x * self.w if x.dim() else x / self.w


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(x), self.outer(x.sum())


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
    model.outer[0].register_buffer("w", torch.tensor(1.0))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(make()[0], args))
    for module in (model, unflattened):
        module.outer.get_submodule("0").w.fill_(2)
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: with w = 2 eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
