# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: NotImplementedError for a model with a sparse buffer"
# variant-of = "unflatten_makes_one_of_parameters_in_one_memory"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "NotImplementedError", "unflatten.py:unflatten",
#         "unflatten.py:__init__", "unflatten.py:_id",
#     ],
# ]
# fix = "unflatten_tells_parameters_by_identity"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: _id"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A graph network has its adjacency matrix as a sparse buffer. The program runs; unflatten raises
NotImplementedError.

To find tensors with several names, unflatten asks each for its storage (`_id`), and a sparse tensor has none.
It should compare such tensors by identity.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("adjacency", torch.eye(2).to_sparse())

    def forward(self, x):
        return self.adjacency @ x


def make():
    return Model(), (torch.ones(2, 1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    torch.export.unflatten(ep)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NotImplementedError as error:
        sys.exit(f"BUG: unflatten raises {error}")
    print("ok: unflatten raises nothing")
