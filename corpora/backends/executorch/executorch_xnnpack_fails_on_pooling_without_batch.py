# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if the input of a pooling layer has no batch dimension"
# id = "XE015"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that pools one image or one signal, as AvgPool2d and AvgPool1d allow"
# topics = ["layout"]
# cause = """
# The partitioner also takes a pooling with an input of three dimensions. ChannelsLastTaggedReshapePass
# asserts that the input of a pooling has four, to put the channels last. The partitioner should
# leave such a pooling to the portable kernel, or the pass should add a dimension, as for a convolution."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "Exception", "An error occurred when running the pass after"]]
# trigger = ["layer.avg_pool1d|layer.max_pool1d|op.pool"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/backends/xnnpack/partition/config/generic_node_configs.py: pooling of any rank"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK raises "An error occurred when running the 'ChannelsLastTaggedReshapePass' pass".

The input of AvgPool2d is one image without a batch dimension. The partitioner gives it to XNNPACK, whose pass
needs four dimensions: "Attempting to convert non-NHWC compatible node to NHWC". It should add a dimension.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = torch.nn.AvgPool2d(2)

    def forward(self, x):
        return self.pool(x)


def make():
    return Model(), (torch.ones(3, 4, 4),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    to_edge_transform_and_lower(torch.export.export(model, args), partitioner=[XnnpackPartitioner()])


def make_workaround():
    """Add a batch dimension, and remove it after the pooling."""

    class Batching(Model):
        def forward(self, x):
            return self.pool(x[None])[0]

    return Batching(), (torch.ones(3, 4, 4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "ChannelsLastTaggedReshapePass" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
