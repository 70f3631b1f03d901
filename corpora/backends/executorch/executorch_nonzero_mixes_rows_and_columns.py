# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: nonzero of a matrix gives wrong indices"
# id = "XE023"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that returns where a mask or a heat map is set, with nonzero or argwhere"
# topics = ["indexing", "layout"]
# cause = """
# In torch, the result of nonzero is a transposed tensor, so the program has the dim order (1, 0) for it.
# The portable kernel writes one row after the other, as if the order were (0, 1), and does not look at it.
# It should refuse the order, or to_executorch should plan a contiguous result. Other kernels,
# such as add, compare the orders and fail with 0x12."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "value", "fresh"],
#   ["outputs", "crash", "run", "RuntimeError", "method failed with error"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error"],
# ]
# trigger = ["op.nonzero"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/kernels/portable/cpu/op_nonzero.cpp: it does not look at the dim order of out"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method returns the indices [[0, 0], [1, 2], [1, 1]] in place of [[0, 1], [1, 0], [2, 1]].

The result of nonzero is a transposed tensor. The kernel of ExecuTorch writes it row by row, and the caller
reads it column by column. The kernel should look at the order of the dimensions.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.nonzero()  # first difference


def make():
    return Model(), (torch.tensor([[0, 1], [1, 0], [0, 1]]),)


def wrong_call(operator, args, kwargs):
    """The result has several columns."""
    return operator == "aten.nonzero.default" and args[0].dim() > 1


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


def make_workaround():
    """Select rows and columns with a boolean mask."""

    class Flat(Model):
        def forward(self, x):
            number = torch.arange(x.numel())[x.flatten() > 0]
            return torch.stack([number // x.shape[1], number % x.shape[1]], 1)

    return Flat(), (torch.tensor([[0, 1], [1, 0], [0, 1]]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
