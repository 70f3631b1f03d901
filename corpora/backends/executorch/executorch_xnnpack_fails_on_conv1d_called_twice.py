# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if the model calls a Conv1d or a BatchNorm1d twice"
# id = "XE006"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a Conv1d with shared weights, such as a block that is applied repeatedly"
# topics = ["shared-modules"]
# cause = """
# Conv1dUnsqueezePass makes the weight of a Conv1d four-dimensional, and adds a dimension to the input. It
# takes each convolution with a three-dimensional weight. At the second call the weight has four dimensions
# already, so that the input gets none. The pass should change each weight once, and all convolutions that
# use it."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "Exception", "An error occurred when running the pass after"]]
# trigger = ["calls.repeated|idiom.updated_twice|layer.conv1d|layer.batch_norm1d"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/backends/xnnpack/_passes/conv1d_unsqueeze_pass.py, call: it asks for the shape"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering to XNNPACK raises "An error occurred when running the 'Conv1dUnsqueezePass' pass".

The model calls a Conv1d twice. The pass makes a Conv2d of a Conv1d: it changes the weight and the input. At
the second call, it takes the changed weight for that of a Conv2d, and leaves the input as it is. It should
change the input as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv1d(2, 2, 1)

    def forward(self, x):
        return self.conv(self.conv(x).relu())


def make():
    torch.manual_seed(0)
    return Model().eval(), (torch.ones(1, 2, 3),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    exported = torch.export.export(model, args)
    to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()


def make_workaround():
    """Use a Conv2d whose kernel has the width 1."""

    class Wide(Model):
        def forward(self, x):
            weight, bias = self.conv.weight.unsqueeze(-1), self.conv.bias
            x = torch.nn.functional.conv2d(x.unsqueeze(-1), weight, bias).relu()
            return torch.nn.functional.conv2d(x, weight, bias).squeeze(-1)

    torch.manual_seed(0)
    return Wide().eval(), (torch.ones(1, 2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "Conv1dUnsqueezePass" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
