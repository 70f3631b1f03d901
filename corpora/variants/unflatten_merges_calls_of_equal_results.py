# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls of other graphs, unnoticed as long as both give the same"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "shared-graph"]]
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
"""Export recorded `abs` for one call and `relu` for the other; the unflattened module runs `abs` for both.

The input of the two is never negative, so the values do not show it. Code that reads or changes the graph
of `outer` takes it for the graph of both calls.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x.abs() if x.dim() else x.relu()


class Model(torch.nn.Module):
    def forward(self, x):
        x = x * x
        return self.outer(x), self.outer(x.sum())


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    calls = [node.target for node in unflattened.graph.nodes if node.op == "call_module"]
    return ["outer", "outer@1"], calls


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager takes abs, then relu; unflatten runs the graphs {got}")
    raise SystemExit(bug)
