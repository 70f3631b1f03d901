# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: a method fails on a parameter or buffer that is a transposed row"
# id = "XE016"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a weight or buffer that is a row turned into a column with .t() or .T"
# topics = ["layout", "buffers"]
# cause = """
# For torch, a transposed row is contiguous: the stride of a size of 1 does not count. So
# convert_constant_dim_order_pass leaves it as it is. dim_order_from_stride sorts the strides (1, 3) and gives
# the order (1, 0), which is not contiguous for a kernel. It should ignore strides of a size of 1."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "run", "RuntimeError", "method failed with error"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error"],
# ]
# trigger = ["state.transposed"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/tensor.py, dim_order_from_stride: it does not know the sizes"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method raises a RuntimeError: "method->execute() failed with error 0x12".

The buffer is a row that is transposed to a column. It has the strides (1, 3), and to_executorch makes the
order (1, 0) of its dimensions of them. The kernel of add refuses this. The order should be (0, 1), as torch
says that the buffer is contiguous.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(1, 3).t())

    def forward(self, x):
        return x + self.mean


def make():
    return Model(), (torch.ones(3, 1),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    Runtime.get().load_program(program.buffer).load_method("forward").execute(args)


def make_workaround():
    """Make the column with reshape from a copy of the row."""
    model = Model()
    model.mean = model.mean.flatten().reshape(3, 1)
    return model, (torch.ones(3, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "failed with error" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the method raises {error!r:.100}")
    print("ok: neither eager nor the method raises")
