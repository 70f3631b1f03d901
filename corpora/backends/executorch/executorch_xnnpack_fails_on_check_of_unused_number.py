# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if the model checks a number that its result does not need"
# id = "XE030"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a small model that checks its input with torch._check before it computes"
# topics = ["dynamic-sizes"]
# cause = """
# After it has made a partition, create_submodule_from_nodes sorts the graph with legalize_graph. This takes
# nodes level by level, and the output as soon as its own inputs are there. If the check takes more steps
# than the result, its nodes come after the output. The function should use stable_topological_sort."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "lower", "AssertionError", "exported_program.py:_validate", "verifier.py:check",
#    "verifier.py:_verify_exported_program_signature"],
#   ["outputs", "crash", "lower", "AssertionError", "graph.py:output_node"],
# ]
# trigger = ["op.data|op.reduce|idiom.check"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/lowered_backend_module.py, create_submodule_from_nodes: legalize_graph"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge_transform_and_lower raises AssertionError: "Expected output node, got op=call_function".

A model checks one input with torch._check, and returns a linear layer of the other. After the layer is a
delegate, its result takes fewer steps than the check, and the sort puts the check after the output. The
output should stay the last node of the graph.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x, ids):
        torch._check((ids >= 0).sum().item() > 0)
        return self.linear(x)


def make():
    return Model(), (torch.ones(1, 2), torch.tensor([0, 1]))


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    to_edge_transform_and_lower(torch.export.export(model, args), partitioner=[XnnpackPartitioner()])


def make_workaround():
    """Check the tensor, instead of a number that is read from it."""

    class Asserting(Model):
        def forward(self, x, ids):
            torch._assert_async((ids >= 0).any())
            return self.linear(x)

    return Asserting(), (torch.ones(1, 2), torch.tensor([0, 1]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "output node" not in str(error) and "last node" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
