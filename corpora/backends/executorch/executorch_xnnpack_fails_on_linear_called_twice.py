# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails with 'dependency cycles' if a model calls a Linear twice"
# id = "XE033"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "one Linear for a query and a document, of which one is normalized after it"
# topics = ["shared-modules"]
# cause = """
# GroupBasedPartitioner merges two partitions if it finds no cycle. It looks for cycles node by node, and not
# through other partitions, which a path may enter by one node and leave by another. So two partitions may
# need the results of each other. With a weight that several nodes use, this happens in small
# models. _can_merge_partitions should follow partitions as a whole."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AssertionError", "fuser_utils.py:fuse_as_graphmodule"]]
# trigger = ["layer.*"]
# runners = ["xnnpack"]
# upstream = "https://github.com/pytorch/executorch/pull/18397"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/backend/canonical_partitioners/group_partitioner.py, _can_merge_partitions"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK raises AssertionError: "Invalid partition, found dependency cycles".

A model calls one Linear with two inputs, and normalizes one of the results. The partitioner puts both calls
into one partition, and what is before the first and after the second into another. Each partition needs a
result of the other one. The partitioner should merge only one of the two pairs.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.norm = torch.nn.LayerNorm(2)

    def forward(self, query, document):
        query = self.linear(query.relu())
        return query, self.norm(self.linear(document)).relu()


def make():
    torch.manual_seed(0)
    return Model().eval(), (torch.ones(1, 2), torch.ones(1, 2))


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    to_edge_transform_and_lower(torch.export.export(model, args), partitioner=[XnnpackPartitioner()])


def make_workaround():
    """Call the layer once, with both inputs in one batch."""

    class Together(Model):
        def forward(self, query, document):
            both, rows = self.linear(torch.cat([query.relu(), document])), query.shape[0]
            return both[:rows], self.norm(both[rows:]).relu()

    torch.manual_seed(0)
    return Together().eval(), (torch.ones(1, 2), torch.ones(1, 2))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "found dependency cycles" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
