# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD141"
# title = "torch.export: an operator added to the graph of a branch gets the name of an input of the graph"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a pass adds operators to branches, whose operand has the name of a sum: lint raises"
# topics = ["control-flow", "names"]
# cause = """
# `placeholder_naming_pass` renames the inputs of the branch with `node.name = ...`, and the graph does not
# know that this name is used. It should register the name in the graph, too."""
# path = "nonstrict+rewritten:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "graph.py:lint"]]
# fix = "graphs_know_the_names_of_placeholders"
# upstream = ""
# at-fault = "torch/_export/utils.py, placeholder_naming_pass, _name_hoo_subgraph_placeholders: node.name ="
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A pass replaces the addition in a branch of torch.cond by a copy. `graph.lint()` then finds two nodes
called add_1.

`placeholder_naming_pass` renames the inputs of the branch with `node.name = ...`, and the graph does not know
that this name is used. It should register the name in the graph, too.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x + 1 + 2
        return torch.cond(x.sum() > 0, lambda y: (y + 1) * y, torch.cos, (y,))


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    graph = program.true_graph_0.graph
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
        with graph.inserting_before(node):
            node.replace_all_uses_with(graph.node_copy(node, lambda used: used))
        graph.erase_node(node)
    graph.lint()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: with the addition replaced by a copy, lint raises {error}")
    print("ok: with the addition replaced by a copy, lint takes the graph")
