# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: a matrix product with an inner dimension of 0 gives what was in memory"
# id = "XE052"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "attention over an empty memory, with static sizes"
# topics = ["products"]
# cause = """
# If the inner dimension of a product has size 0, each element of the result is an empty sum, which is 0.
# bmm_kernel returns at once if one of its inputs is empty, and writes nothing. opt_mm_out calls gemm with a
# leading dimension of 0: the BLAS library refuses that, prints an error that nobody reads, and writes nothing
# either. So the result keeps what its memory had before. Both should fill it with zeros."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["input.empty", "op.matmul|op.heads|layer.linear"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "kernels/optimized/cpu/op_bmm.cpp, op_mm.cpp: they write nothing for an inner dimension of 0"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The product of no items is what its memory had before, instead of 0.

The model adds a weighted sum of items to its input. There are no items, so the sum is 0. The kernel of `mm`
writes nothing then, and its memory still has an intermediate result: 2 * x.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, weights, items):
        x = torch.tanh(x * 2)
        return x + weights @ items  # first difference


def make():
    return Model(), (torch.ones(2, 3), torch.ones(2, 0), torch.ones(0, 3))


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


def make_workaround():
    """Leave out the product if there are no items."""

    class Asking(torch.nn.Module):
        def forward(self, x, weights, items):
            x = torch.tanh(x * 2)
            return x + weights @ items if items.shape[0] else x

    return Asking(), (torch.ones(2, 3), torch.ones(2, 0), torch.ones(0, 3))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(
        f"{'BUG' if bug else 'ok'}: for no items, eager gives {expected.tolist()}, the method {got.tolist()}"
    )
    raise SystemExit(bug)
