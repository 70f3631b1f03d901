# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD056"
# title = "run_decompositions: the program returns the buffer itself instead of the tensor copied into it"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a cache filled by copy_: results change with the next call"
# evidence = ["https://github.com/pytorch/executorch/issues/7515"]
# topics = ["kv-cache", "buffers", "views"]
# cause = """
# `_remove_unnecessary_copy_op_pass` replaces the copy by y. Then y is both an output of the model and the new
# value of the buffer. `_insert_copy_for_mutations` takes an output that is the new value of a buffer for the
# buffer. The pass should leave the copy if its source is returned."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity"]]
# fix = "copies_of_outputs_stay"
# upstream = "https://github.com/pytorch/executorch/issues/7515"
# upstream-match = "place"
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
"""`self.last.copy_(y); return y` returns y in eager. Decomposed, it returns the buffer, which the next call
overwrites.

`_remove_unnecessary_copy_op_pass` replaces the copy by y. Then y is both an output of the model and the new
value of the buffer. `_insert_copy_for_mutations` takes an output that is the new value of a buffer for the
buffer. The pass should leave the copy if its source is returned.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        self.last.copy_(y)
        return y  # first difference


def make():
    model = Model()
    model.register_buffer("last", torch.zeros(2))
    return model, (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args).run_decompositions().module()
    expected, got = model(*args), program(*args)
    model(torch.zeros(2))
    program(torch.zeros(2))
    return expected, got


def make_workaround():
    """Return a clone of what was copied into the buffer."""

    class Cloning(Model):
        def forward(self, x):
            y = x + 1
            self.last.copy_(y)
            return y.clone()

    model = Cloning()
    model.register_buffer("last", torch.zeros(2))
    return model, (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(
        f"{'BUG' if bug else 'ok'}: after a second call, the first result is {expected} in eager, here {got}"
    )
    raise SystemExit(bug)
