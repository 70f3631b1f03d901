# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge fails if the number of columns of a matrix depends on data"
# id = "XE053"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "columns that a mask selects, or a row made of selected values"
# topics = ["indexing", "dynamic-sizes"]
# cause = """
# A matrix with u0 columns has the strides (u0, 1). dim_order_from_stride sorts them, and asks whether u0 < 1.
# It knows that 1 < u0, because 1 divides u0, but not that the reverse is false. So the comparison becomes a
# guard on an unbacked symbol. A stride is never smaller than 1, so K.__lt__ should return False."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "GuardOnDataDependentSymNode"]]
# trigger = ["op.data"]
# upstream = "https://github.com/pytorch/executorch/pull/19516"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/tensor.py, dim_order_from_stride: K.__lt__ guards on u0 < 1"
# workaround = "none: only rows can be selected; return x.t()[mask], and transpose it outside of the model"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""Lowering fails: "Could not guard on data-dependent expression u0 < 1", in dim_order_from_stride.

The model returns the columns that a mask selects. ExecuTorch sorts the strides of the result, and cannot tell
whether the number of columns is less than 1. Selecting rows works.
"""

import sys

import torch


class Columns(torch.nn.Module):
    def forward(self, x, mask):
        return x[:, mask]


def make():
    return Columns(), (torch.arange(6.0).view(2, 3), torch.tensor([True, False, True]))


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

    try:
        expected, got = show()
    except GuardOnDataDependentSymNode as error:
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.80}")
    print(f"ok: eager gives {expected.tolist()}, the method {got.tolist()}")
