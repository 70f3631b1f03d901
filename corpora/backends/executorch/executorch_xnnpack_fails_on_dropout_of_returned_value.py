# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowering to XNNPACK fails if the model returns a value and its dropout, or a copy"
# id = "XE009"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a model that returns a hidden value and the value after dropout"
# topics = ["copies"]
# cause = """
# In eval mode, a dropout is a copy. The partitioner gives the copy to XNNPACK, whose passes remove it.
# Then one value is two outputs of the partition, and generate_node_to_external_map refuses the second: its
# message says that the value is an input. The partitioner should take no copy whose input is an output as
# well."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "Output node is already in the This is"]]
# trigger = ["output.*|inplace.scatter|op.index_add"]
# runners = ["xnnpack"]
# upstream = "https://github.com/pytorch/executorch/issues/19152"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = "executorch/backends/xnnpack/xnnpack_preprocess.py, generate_node_to_external_map: two outputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering raises a RuntimeError: "Output node 'aten_relu_default' is already in the inputs".

The model returns a value and its dropout, which copies in eval mode. XNNPACK removes the copy, and then it
has one value for two outputs. The partitioner should leave the copy outside.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout()

    def forward(self, x):
        hidden = x.relu()
        return hidden, self.dropout(hidden)


def make():
    return Model().eval(), (torch.ones(1, 2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    model, args = make()
    exported = torch.export.export(model, args)
    to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()


def make_workaround():
    """Add 0 to the value that is returned."""

    class Adding(Model):
        def forward(self, x):
            hidden = x.relu()
            return hidden + 0, self.dropout(hidden)

    return Adding().eval(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "is already in the inputs" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge_transform_and_lower raises {error!r:.100}")
    print("ok: neither eager nor to_edge_transform_and_lower raises")
