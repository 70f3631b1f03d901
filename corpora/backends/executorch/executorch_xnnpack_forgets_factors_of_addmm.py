# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: lowered to XNNPACK, addmm forgets alpha and beta"
# id = "XE019"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "torch.addmm with alpha or beta, as low-rank adapters scale their product"
# topics = ["products"]
# cause = """
# AddmmConfig takes each addmm whose weight is constant, and AddmmVisitor makes a fully connected operator
# of it, which has no factors. The partitioner should leave addmm with another alpha or beta than 1 to the
# portable kernel, as it does for add and sub since pull requests 11777 and 11796."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["op.addmm"]
# runners = ["xnnpack"]
# upstream = "https://github.com/pytorch/executorch/issues/11683"
# upstream-match = "symptom"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/backends/xnnpack/partition/config/gemm_configs.py, AddmmConfig: any alpha and beta"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method gives bias + x @ weight, where eager gives bias + 0.5 * (x @ weight).

XNNPACK runs addmm as a fully connected layer, which has no factor alpha. The partitioner of XNNPACK should
leave this addmm to the portable kernel.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2, 2))
        self.bias = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight, alpha=0.5)  # first difference


def make():
    return Model(), (torch.ones(1, 2),)


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
    """Multiply the input by the factor."""

    class Multiplying(Model):
        def forward(self, x):
            return torch.addmm(self.bias, x * 0.5, self.weight)

    return Multiplying(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
