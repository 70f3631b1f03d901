# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten runs a variant of a child that lacks an operator of the one called"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "missing", "operator"]]
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
"""The second call, of a scalar, begins with abs; the unflattened module calls the child at once both times.

`inner` gets two graphs, of which `inner@1` has the abs. The two graphs of `outer` differ in the target of
their call_module node alone, are taken for one, and `inner@1` is never run. With 1, the values do not show
it.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return self.child(x if x.dim() else x.abs())


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x)[0]) > 99


def make():
    model = Model()
    model.outer = torch.nn.Sequential()
    model.outer.inner = Inner()
    model.outer.inner.child = torch.nn.LeakyReLU()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(torch.tensor([-200000.0])), unflattened(torch.tensor([-200000.0]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: for -2e5, eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
