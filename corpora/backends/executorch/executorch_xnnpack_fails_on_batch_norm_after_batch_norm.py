# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if a batch norm follows directly after a batch norm"
# id = "XE031"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "two normalizations in a row, with at most a dropout between them"
# topics = ["norms"]
# cause = """
# DecomposeBatchNorm makes a convolution of each batch norm, one after the other. The new node has no
# meta["val"], which the pass reads of the input of the next batch norm. replace_bn_node_with_conv should give
# the convolution the meta["val"] of the result that it replaces."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "Exception", "An error occurred when running the pass after"]]
# trigger = ["layer.batch_norm1d"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/backends/xnnpack/_passes/decompose_batch_norm.py, replace_bn_node_with_conv: no val"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK raises "An error occurred when running the 'DecomposeBatchNorm' pass": KeyError 'val'.

The model calls a BatchNorm1d on the result of another one. The pass replaces the first by a convolution
without metadata, and then asks for the metadata of the input of the second. It should set them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.BatchNorm1d(2)
        self.second = torch.nn.BatchNorm1d(2)

    def forward(self, x):
        return self.second(self.first(x))


def make():
    return Model().eval(), (torch.ones(1, 2, 3),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    to_edge_transform_and_lower(torch.export.export(model, args), partitioner=[XnnpackPartitioner()])


def make_workaround():
    """Multiply by one between the two."""

    class Multiplying(Model):
        def forward(self, x):
            return self.second(self.first(x) * 1)

    return Multiplying().eval(), (torch.ones(1, 2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "DecomposeBatchNorm" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
