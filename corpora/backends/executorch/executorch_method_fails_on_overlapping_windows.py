# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: a method fails with error 0x12 if the example was made of overlapping windows"
# id = "XE056"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "frames of a signal, made by unfold, as the example for export"
# topics = ["layout", "views"]
# cause = """
# Windows that overlap have the strides (1, 1). Both dim orders fit these, and to_edge takes (0, 1) for the
# input. The operator gives a new tensor, for which torch chooses the strides (1, 2), so its dim order is
# (1, 0). The kernel of the runtime refuses operands of different orders. to_edge should make the input
# contiguous, or the kernel should reorder it."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "run", "RuntimeError", "method failed with error"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error"],
# ]
# trigger = ["input.windows"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/tensor.py, dim_order_from_stride: equal strides fit both orders"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method raises RuntimeError: "method->execute() failed with error 0x12".

The model was exported with overlapping windows of a signal. torch lays the result out column by column, and
the kernel refuses to add tensors of different dim orders.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(1)


def make():
    return Model(), (torch.arange(4.0).unfold(0, 3, 1),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    made = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(made.buffer).load_method("forward")
    return model(*args), method.execute([args[0].contiguous()])[0]


def make_workaround():
    """Make the example contiguous."""
    return Model(), (torch.arange(4.0).unfold(0, 3, 1).contiguous(),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "0x12" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the method raises {error!r:.80}")
    print("ok: neither eager nor the method raises")
