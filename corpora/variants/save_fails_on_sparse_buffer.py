# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.save: NotImplementedError for a model with a sparse buffer"
# variant-of = "reload_forgets_conjugation"
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "NotImplementedError", "_package.py:_package_exported_programs",
#         "_package.py:_package_state_dict", "_package_weights.py:__init__",
#     ],
# ]
# # The loaded graph records a strided tensor: deserialize_tensor_meta does not read the layout.
# unmasked = [["guards", "mismatch", "recorded", "stride", "buffer"]]
# fix = "save_pickles_lazy_conjugates"
# upstream = ""
# at-fault = "torch/export/pt2_archive/_package.py, _should_use_pickle: subclasses only"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A graph network has its adjacency matrix as a sparse buffer. The program runs; saving it raises
NotImplementedError.

Weights are saved as the bytes of their storage, and a sparse tensor has none. `_should_use_pickle` chooses
pickle only for subclasses of Tensor. It should do so for sparse tensors as well.
"""

import io
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
    torch.export.save(torch.export.export(model, args), io.BytesIO())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except NotImplementedError as error:
        sys.exit(f"BUG: torch.export.save raises {error}")
    print("ok: torch.export.save raises nothing")
