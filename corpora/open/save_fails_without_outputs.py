# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD197"
# title = "torch.export.save: ValueError if the model returns an empty tuple"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a model that only updates a buffer and returns (); with None it works"
# topics = ["unused-results"]
# cause = """
# `canonicalize` splits the list of outputs with `zip(*...)`, which fails for an empty list. For inputs it
# handles this case."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "ValueError",
#         "serialize.py:serialize",
#         "serialize.py:serialize",
#         "serialize.py:canonicalize",
#     ],
# ]
# fix = "canonicalize_no_outputs"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, canonicalize: zip of no outputs"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model counts its calls and returns an empty tuple. The program runs; saving it raises "not enough
values to unpack".

`canonicalize` splits the list of outputs with `zip(*...)`, which fails for an empty list. For inputs it
handles this case.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return ()


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.save(torch.export.export(model, args), io.BytesIO())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        sys.exit(f"BUG: export raises nothing, save raises {error!r:.100}")
    print("ok: export raises nothing, save raises nothing")
