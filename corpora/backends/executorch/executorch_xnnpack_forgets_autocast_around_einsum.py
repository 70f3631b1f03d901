# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge_transform_and_lower forgets autocast around einsum, which gives float32"
# id = "XE054"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "attention with einsum in an autocast block"
# topics = ["autocast", "attention"]
# cause = """
# einsum has no autocast rule: its parts have. to_edge_transform_and_lower first calls run_decompositions({}).
# That call keeps einsum, and removes the autocast region around it. So nothing casts when einsum is
# decomposed later. run_decompositions should keep the region, or decompose such operators inside of it."""
# path = "executorch:xnnpack@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
# trigger = ["region.autocast"]
# runners = ["xnnpack"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/program/_program.py, _gen_edge_manager_for_partitioners: run_decompositions({})"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The lowered method returns float32, where eager returns bfloat16.

Lowering to XNNPACK first calls run_decompositions with an empty table. This keeps the einsum, and removes the
autocast block around it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        with torch.autocast("cpu"):
            return torch.einsum("ij,kj->ik", x, y)  # first difference


def make():
    return Model(), (torch.ones(2, 3), torch.ones(4, 3))


def wrong_call(operator, args, kwargs):
    """An operator without an autocast rule is called in an autocast block."""
    return operator in ("einsum", "inner", "tensordot", "gru", "lstm") and torch.is_autocast_enabled("cpu")


def show():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    model, args = make()
    program = torch.export.export(model, args)
    edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    made = edge.to_executorch()
    method = Runtime.get().load_program(made.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


def make_workaround():
    """Multiply the matrices with an operator that autocast knows."""

    class Multiplying(torch.nn.Module):
        def forward(self, x, y):
            with torch.autocast("cpu"):
                return x @ y.t()

    return Multiplying(), (torch.ones(2, 3), torch.ones(4, 3))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected.dtype != got.dtype
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.dtype}, the method {got.dtype}")
    raise SystemExit(bug)
