# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge refuses min and max of a dynamic size, with an empty AssertionError"
# id = "XE026"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "min(size, limit) with a dynamic size, as padding and attention windows use it"
# topics = ["dynamic-sizes"]
# cause = """
# torch.export makes torch.sym_min of this. ExecuTorch has an operator for it, and replaces torch.sym_min by
# this operator in to_executorch. Before that, check_valid_edge_op takes only the operator, and asserts that
# any function of Python is alloc. It should take the functions that will be replaced, and name those that
# it does not know, such as pow."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AssertionError", "verifier.py:check"]]
# trigger = ["op.size|op.data|control.size_arithmetic"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/verification/verifier.py, check_valid_edge_op: it lacks functions"
# workaround = "none: to_edge with EdgeCompileConfig(_check_ir_validity=False) takes it"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge raises an AssertionError without a message.

The model takes the smaller one of a size and a number. ExecuTorch has an operator for this, but its verifier
does not know the function of torch that the operator replaces.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * min(x.shape[0], 3)


def make():
    return Model(), (torch.ones(4, 2),)


def show():
    from executorch.exir import to_edge

    model, args = make()
    sizes = {"x": {0: torch.export.Dim("n", min=2, max=64)}}
    exported = torch.export.export(model, args, dynamic_shapes=sizes)
    to_edge(exported).to_executorch()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.100}")
    print("ok: neither eager nor to_edge raises")
