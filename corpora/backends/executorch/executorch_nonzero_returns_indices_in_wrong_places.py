# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: nonzero returns its indices in the wrong places"
# id = "XE022"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that returns the positions of a mask, mask.nonzero()"
# topics = ["indexing", "layout"]
# cause = """
# The result of nonzero has the strides of a transposed tensor in torch, so the program says that its dim
# order is (1, 0). The kernel nonzero.out writes the indices row by row and does not look at the dim order of
# its output. A caller reads them column by column. The kernel should follow the dim order, or refuse it."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"], ["outputs", "mismatch", "value", "fresh", "probe"]]
# trigger = ["op.data"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/kernels/portable/cpu/op_nonzero.cpp: it ignores the dim order of its output"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""nonzero of a matrix gives other positions than in eager: the numbers are right, their places are not.

The program says that the result is stored column by column, as in torch. The kernel stores it row by row.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, mask):
        return mask.nonzero()  # first difference


def make():
    return Model(), (torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]),)


def show(made=None):
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = made or make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


def make_workaround():
    """Find the positions in the flat mask, and compute rows and columns from them."""

    class Flat(Model):
        def forward(self, mask):
            at = mask.flatten().nonzero().flatten()
            return torch.stack([at // mask.shape[1], at % mask.shape[1]], dim=1)

    return Flat(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
