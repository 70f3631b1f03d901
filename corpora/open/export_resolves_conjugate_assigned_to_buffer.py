# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD159"
# title = "ep.module(): a conjugate that is assigned to a buffer loses its conjugate bit"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a complex buffer that is assigned x.conj(); views such as .imag then differ"
# topics = ["dtypes", "buffers"]
# cause = """
# `_insert_copy_for_mutations` copies the values into the old buffer, which has no conjugate bit. So for
# example `torch.view_as_real` raises for the buffer in eager, and not in the program."""
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["state", "mismatch", "conj-bit", "buffer"],
#     ["state", "mismatch", "neg-bit", "buffer"],
# ]
# trigger = ["state.rebound"]
# upstream = ""
# at-fault = "torch/export/_unlift.py, _insert_copy_for_mutations: copies values into the old tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward assigns `x.conj()` to a buffer. `is_conj()` of the buffer is True in eager, and False in the
program.

`_insert_copy_for_mutations` copies the values into the old buffer, which has no conjugate bit. So for example
`torch.view_as_real` raises for the buffer in eager, and not in the program.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(1, dtype=torch.complex64))

    def forward(self, x):
        self.kept = x.conj()  # first difference
        return x + 1


def make():
    return Model(), (torch.ones(1, dtype=torch.complex64),)


def show():
    model, args = make()
    module = torch.export.export(make()[0], args).module()
    model(*args), module(*args)
    return model.kept.is_conj(), module.kept.is_conj()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the buffer is conjugated: {expected} in eager, {got} in the program")
    raise SystemExit(bug)
