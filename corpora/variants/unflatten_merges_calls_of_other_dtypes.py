# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: the second call of a submodule returns float32 instead of bool"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
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
"""A child sums a vector and compares a scalar with 0. In the second call it gets a scalar, but unflatten sums
again.

The two graphs of the parent differ only in which graph of the child they call, `0` or `0@1`.
`_check_graph_equivalence` does not compare this, so that unflatten merges the two.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x.sum() if x.dim() else x > 0


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x))


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args).dtype, unflattened(*args).dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
