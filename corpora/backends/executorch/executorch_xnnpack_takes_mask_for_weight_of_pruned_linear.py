# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowered to XNNPACK, a pruned Linear computes with its mask in place of its weight"
# id = "XE012"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a Linear that is pruned or parametrized, so that its forward computes its weight"
# topics = ["tied-weights"]
# cause = """
# A pruned Linear multiplies its mask by its weight before addmm. ConvertToLinearPass looks for the weight
# of addmm with find, which goes to the first argument of each node, until it comes to an input of the
# layer: to the mask. It should go through nodes that only change the shape, and use the result of any
# other."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "value"],
#   ["outputs", "crash", "lower", "Exception", "An error occurred when running the pass after"],
# ]
# trigger = ["idiom.pruned"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/backends/xnnpack/_passes/convert_to_linear.py, find: it follows args[0]"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""A pruned Linear gives wrong values on XNNPACK: it computes with the mask.

A pass of XNNPACK makes one operator of the nodes of a Linear. It looks for the weight among the inputs of
these nodes, and finds the mask, which comes first. It should find the product of both.
"""

import sys

import torch
from torch.nn.utils import prune


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        prune.l1_unstructured(self.head, "weight", amount=1)

    def forward(self, x):
        return self.head(x)  # first difference


def make():
    torch.manual_seed(0)
    return Model().eval(), (torch.ones(3, 2),)


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    model, args = make()
    exported = torch.export.export(model, args)
    edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    method = Runtime.get().load_program(edge.to_executorch().buffer).load_method("forward")
    got = method.execute(args)[0]
    return model(*args).detach(), got


def make_workaround():
    """Compute the weight outside of the layer."""

    class Outside(Model):
        def forward(self, x):
            weight = self.head.weight_mask * self.head.weight_orig
            return torch.nn.functional.linear(x, weight, self.head.bias)

    torch.manual_seed(0)
    return Outside().eval(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the method {got}")
    raise SystemExit(bug)
