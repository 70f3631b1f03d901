# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: a method fails if the model pads with a negative number"
# id = "XE011"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "torch.nn.functional.pad with a negative number, which crops"
# topics = ["layout"]
# cause = """
# The kernel of constant_pad_nd refuses a negative number, with which the operator of ATen removes
# elements. It should remove them too. Nothing says at export that the kernel does not: the error comes in
# the call."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "run", "RuntimeError", "method failed with error"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error"],
# ]
# trigger = ["op.shape"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "kernels/portable/cpu/util/kernel_ops_util.cpp, check_constant_pad_args: pad[i] >= 0"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method raises a RuntimeError: "method->execute() failed with error 0x12".

The model crops a tensor with a negative number of torch.nn.functional.pad, as eager allows. The portable
kernel of constant_pad_nd refuses this. It should crop.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.pad(x, (-1, 0))


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    Runtime.get().load_program(program.buffer).load_method("forward").execute(args)


def make_workaround():
    """Take a slice."""

    class Slicing(Model):
        def forward(self, x):
            return x[:, 1:] + 0

    return Slicing(), (torch.ones(2, 3),)


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
