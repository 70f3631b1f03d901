# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: a float16 tensor without dimensions, times a Python number, becomes float32"
# id = "XE020"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a mean or a learned scale in float16 or bfloat16 that is multiplied by a number"
# topics = ["dtypes"]
# cause = """
# ScalarToTensorPass makes a float32 tensor without dimensions of the number. Two such tensors are promoted to
# the larger dtype, a number is not. It should give the number the dtype of the result."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype", "fresh"]]
# trigger = ["state.half|input.float16|input.bfloat16|op.cast"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/passes/scalar_to_tensor_pass.py, ScalarToTensorPass"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method returns float32, where eager returns float16.

to_edge makes a float32 tensor of the number 0.5. Then both operands are tensors without dimensions, and the
larger dtype wins.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.mean() * 0.5  # first difference


def make():
    return Model(), (torch.ones(2, dtype=torch.float16),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


def make_workaround():
    """Give the mean a dimension until the number is multiplied."""

    class WithDimension(torch.nn.Module):
        def forward(self, x):
            return (x.mean(0, keepdim=True) * 0.5).squeeze(0)

    return WithDimension(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected.dtype != got.dtype
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.dtype}, the method {got.dtype}")
    raise SystemExit(bug)
