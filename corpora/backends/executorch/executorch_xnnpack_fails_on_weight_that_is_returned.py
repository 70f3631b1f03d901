# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if the model also returns the weight of a layer"
# id = "XE004"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that returns a weight next to its result, such as an embedding for a loss"
# topics = ["constants"]
# cause = """
# The partitioner of XNNPACK tags a weight with the partition of its layer. _get_node_list_with_same_tag finds
# that the output, which has no tag, uses the weight too, and raises. A weight with a user outside of the
# partition should get no tag, or be copied, as for two partitions."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "constant data node is tagged with but has"]]
# trigger = ["output.parameter"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/backend/backend_api.py, _get_node_list_with_same_tag: it refuses an output"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK raises a RuntimeError: "constant data node is tagged with (tag0) but has user".

The model returns the weight of a linear layer. The partitioner gives the weight to XNNPACK though it has
another user. It should copy the weight.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x), self.linear.weight


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    exported = torch.export.export(model, args)
    to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()


def make_workaround():
    """Return a copy of the weight."""

    class Copying(Model):
        def forward(self, x):
            out, weight = super().forward(x)
            return out, weight + 0

    return Copying(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "is tagged with" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
