# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a buffer that is a lazy conjugate becomes a resolved one"
# variant-of = "unflatten_separates_views"
# path = "nonstrict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "conj-bit", "buffer", "at-start"]]
# fix = "unflatten_copies_memory_once"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over graph_signature.buffers"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The buffer is `torch.tensor(1 + 2j).conj()`, which only sets a bit. After unflatten, is_conj() is False.

`UnflattenedModule.__init__` copies each buffer with clone(), which computes the conjugate. It should keep the
bit that the graph was traced with.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("phase", torch.tensor(1 + 2j).conj())

    def forward(self, x):
        return x * self.phase


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model.phase.is_conj(), unflattened.phase.is_conj()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: is_conj() of the buffer is {expected} in eager, {got} in unflatten")
    raise SystemExit(bug)
