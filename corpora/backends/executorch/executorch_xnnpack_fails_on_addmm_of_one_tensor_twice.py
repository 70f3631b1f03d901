# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if addmm gets the same tensor twice"
# id = "XE018"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a residual layer that is written as torch.addmm(x, x, weight)"
# topics = ["tied-weights"]
# cause = """
# define_nodes_tensor_inputs_outputs compares the number of arguments, 3, with len(node.all_input_nodes).
# torch.fx lists each node once there, so the count is 2 for addmm(x, x, weight). The function should not
# count: it gets each argument by its position below."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "Invalid input type map given,"]]
# trigger = ["op.matmul"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/backends/xnnpack/operators/node_visitor.py, define_nodes_tensor_inputs_outputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK fails: "Invalid input type map given". addmm gets x as two of its three arguments.

XNNPACK counts the inputs of the node, and torch.fx counts x once.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 2))

    def forward(self, x):
        return torch.addmm(x, x, self.weight)  # first difference


def make():
    return Model(), (torch.ones(3, 2),)


def show(made=None):
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = made or make()
    to_edge_transform_and_lower(torch.export.export(model, args), partitioner=[XnnpackPartitioner()])


def make_workaround():
    """Add the tensor after the product."""

    class Added(Model):
        def forward(self, x):
            return x + x @ self.weight

    return Added(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    error = None
    try:
        show()
    except RuntimeError as raised:
        if "Invalid input type map given" not in str(raised):
            raise
        error = raised
    print(f"BUG: lowering fails: {str(error)[:28]}" if error else "ok: lowering works")
    raise SystemExit(error is not None)
