# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: the program reads the tensor copied into a buffer instead of the buffer"
# variant-of = "decompose_returns_buffer_for_its_source"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape", "fresh"]]
# fix = "copies_of_another_shape_stay"
# upstream = ""
# at-fault = "torch/export/exported_program.py, _remove_unnecessary_copy_op_pass: replace_all_uses_with"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""After `buf.copy_(x)` the decomposed program computes with x where the model computes with buf.

Functionalized, buf is aten.copy(buf, x): x in the shape and dtype of buf. _remove_unnecessary_copy_op_pass
takes it for superfluous, as what is written back is copied into buf anyway, but puts x in its place for all
readers of buf as well: here a scalar for a vector.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.buf.copy_(x)
        return self.buf * 2


def make():
    model = Model()
    model.register_buffer("buf", torch.zeros(2))
    return model, (torch.tensor(1.0),)


def show():
    model, args = make()
    decomposed = torch.export.export(model, args).run_decompositions().module()
    return model(*args).shape, decomposed(*args).shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
