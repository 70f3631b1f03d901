# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails on addmm that adds its own input"
# id = "XE018"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "torch.addmm(x, x, weight), as layers of graph networks add their input"
# topics = ["products"]
# cause = """
# define_nodes_tensor_inputs_outputs demands as many inputs of a node as the operator has arguments, and
# counts with all_input_nodes, which has a node once if it is two arguments. The partitioner should leave
# such an addmm to the portable kernel: as a bias, XNNPACK takes one number for each column."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "Invalid input type map given"]]
# trigger = ["op.addmm"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/backends/xnnpack/operators/node_visitor.py: all_input_nodes"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK raises a RuntimeError: "Invalid input type map given, <...>".

The model multiplies its input by a weight, and adds the input in the same call. XNNPACK's code looks for
three inputs of this call, and finds two. It should leave the call to the portable kernel.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 2))

    def forward(self, x):
        return torch.addmm(x, x, self.weight)


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    exported = torch.export.export(model, args)
    to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])


def make_workaround():
    """Write the sum and the product."""

    class Writing(Model):
        def forward(self, x):
            return x + x @ self.weight

    return Writing(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Invalid input type map" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
