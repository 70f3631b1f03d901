# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowered to XNNPACK, addmm adds the first row of a matrix to each row"
# id = "XE022"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "torch.addmm with a matrix to add, such as a table of positions"
# topics = ["products"]
# cause = """
# AddmmConfig takes each addmm whose weight and added tensor are constant, and AddmmVisitor gives the added
# tensor to a fully connected operator as its bias. XNNPACK reads one number for each column, and no
# further. The partitioner should take addmm only if the added tensor has one dimension, and as many
# elements as columns."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.addmm"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/backends/xnnpack/partition/config/gemm_configs.py, AddmmConfig: a bias of any shape"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The second row of the result has the first row of the added matrix: [3.0, 4.0] in place of [5.0, 6.0].

XNNPACK runs addmm as a fully connected layer, and takes the added matrix for a bias. A bias has one number
for each column. The partitioner of XNNPACK should leave this addmm to the portable kernel.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 2))
        self.register_buffer("position", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))

    def forward(self, x):
        return torch.addmm(self.position, x, self.weight)  # first difference


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    model, args = make()
    exported = torch.export.export(model, args)
    edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    method = Runtime.get().load_program(edge.to_executorch().buffer).load_method("forward")
    return model(*args).detach(), method.execute(args)[0]


def make_workaround():
    """Write the sum and the product."""

    class Writing(Model):
        def forward(self, x):
            return self.position + x @ self.weight

    return Writing(), (torch.ones(2, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
