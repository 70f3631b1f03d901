# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch.runtime: a method fails on log_softmax of float64, with error 0x12"
# id = "XE034"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model in float64 that returns log probabilities"
# topics = ["dtypes"]
# cause = """
# The runtime of the wheel has the optimized kernel of log_softmax, which knows float32, float16 and bfloat16
# only. edge.yaml, by which to_edge checks dtypes, allows float64, and so does the portable kernel. The
# optimized kernel should give other dtypes to the portable one."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "run", "RuntimeError", "method failed with error"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error"],
# ]
# trigger = ["op.log_softmax"]
# upstream = "https://github.com/pytorch/executorch/issues/13551"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/kernels/optimized/cpu/op_log_softmax.cpp, opt_log_softmax_out: no float64"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method raises a RuntimeError: "method->execute() failed with error 0x12".

The model computes log_softmax of float64. to_edge and to_executorch take it, and the kernel of the runtime
refuses it in the first call. It should compute it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.log_softmax(x, 1)


def make():
    return Model(), (torch.ones(1, 2, dtype=torch.float64),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    Runtime.get().load_program(program.buffer).load_method("forward").execute(args)


def make_workaround():
    """Take the logarithm of softmax."""

    class Softmax(Model):
        def forward(self, x):
            return torch.softmax(x, 1).log()

    return Softmax(), (torch.ones(1, 2, dtype=torch.float64),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "failed with error 0x12" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the method raises {error!r:.100}")
    print("ok: neither eager nor the method raises")
