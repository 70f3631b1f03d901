# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD288"
# title = "run_decompositions: after buf.copy_(x), buf has the shape and dtype of x for the rest of forward"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a scalar or another dtype copied into a buffer, which is then read"
# topics = ["buffers", "kv-cache"]
# cause = """
# Decomposed, the buffer is `aten.copy(buf, x)`: the values of x in the shape and dtype of buf.
# `_remove_unnecessary_copy_op_pass` removes this node, because the result is copied into the buffer anyway.
# But it gives x to all other nodes that read the buffer, too. It should remove the copy only if x has the
# same shape, dtype and strides."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape", "fresh"]]
# fix = "copies_of_another_shape_stay"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/exported_program.py, _remove_unnecessary_copy_op_pass: replace_all_uses_with"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After `self.buf.copy_(x)` with a scalar x, the model computes with a vector. The decomposed program
computes with the scalar.

Decomposed, the buffer is `aten.copy(buf, x)`: the values of x in the shape and dtype of buf.
`_remove_unnecessary_copy_op_pass` removes this node, because the result is copied into the buffer anyway. But
it gives x to all other nodes that read the buffer, too. It should remove the copy only if x has the same
shape, dtype and strides.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.buf.copy_(x)  # first difference
        return self.buf * 2


def make():
    model = Model()
    model.register_buffer("buf", torch.zeros(2))
    return model, (torch.tensor(1.0),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args).shape, decomposed(*args).shape


def make_workaround():
    """Copy a tensor that has the shape and dtype of the buffer already."""

    class Expanding(Model):
        def forward(self, x):
            self.buf.copy_(x.repeat(2))
            return self.buf * 2

    model = Expanding()
    model.register_buffer("buf", torch.zeros(2))
    return model, (torch.tensor(1.0),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
