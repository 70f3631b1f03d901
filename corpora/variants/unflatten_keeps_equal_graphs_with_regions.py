# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: replacing a submodule with a no_grad block changes the first of two equal calls only"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "variants", "needless"]]
# fix = "unflatten_compares_graphs_by_content"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence: graphs are compared by their names"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` is called twice, in the same way. If it is replaced in the unflattened model, the second call still
runs the old one.

Equal calls of a module should share one module. `_check_graph_equivalence` compares the names of nodes, and
the graph of the no_grad block has another name in each call, `submod_1` and `submod_3`. So there is a
`child@1` for the second call. It should compare the graphs themselves.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x * 2


class Model(torch.nn.Module):
    def forward(self, x):
        return self.child(self.child(x))


def make():
    model = Model()
    model.child = Child()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    for module in (model, unflattened):
        module.child = torch.nn.Identity()
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: with Identity for child, eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
