# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD004"
# title = "torch.compile, run_decompositions: nn.Bilinear in CPU autocast computes in float32"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "nn.Bilinear in an autocast block, decomposed or compiled: other values"
# topics = ["autocast"]
# cause = """
# nn.Bilinear calls `aten._trilinear`, whose kernel calls `bmm`. Autocast on the CPU has a rule for `bmm`,
# and none for `bilinear` or `_trilinear` (on CUDA it has one for `bilinear`). AOTAutograd keeps
# `_trilinear` whole and runs its graph without autocast. It should decompose the operator while autocast
# is on; or autocast on the CPU should have a rule for `bilinear`."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "products_of_operators_run_with_autocast"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/functional_tensor.py, __torch_dispatch__: keeps _trilinear"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Within autocast on the CPU, nn.Bilinear multiplies in bfloat16. The compiled model multiplies in float32.
So does the program after run_decompositions.

nn.Bilinear calls `aten._trilinear`, whose kernel calls `bmm`. Autocast on the CPU has a rule for `bmm`, and
none for `bilinear` or `_trilinear` (on CUDA it has one for `bilinear`). AOTAutograd keeps `_trilinear` whole
and runs its graph without autocast. It should decompose the operator while autocast is on; or autocast on the
CPU should have a rule for `bilinear`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Bilinear(1, 1, 1, bias=False)
        torch.nn.init.ones_(self.layer.weight)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.layer(x, x)  # first difference


def make():
    return Model(), (torch.full((1, 1), 1.001),)


def show():
    model, args = make()
    return model(*args).item(), torch.compile(model, backend="aot_eager")(*args).item()


def make_workaround():
    """Leave nn.Bilinear out of the compiled graph with torch.compiler.disable."""

    class Disabling(Model):
        @torch.compiler.disable
        def forward(self, x):
            return super().forward(x)

    return Disabling(), (torch.full((1, 1), 1.001),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = abs(got - expected) > 0.001
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected:.4f}, torch.compile {got:.4f}")
    raise SystemExit(bug)
