# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD362"
# title = "torch.export.save: SerializeError if forward calls to_sparse_csr"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a graph network that makes its adjacency matrix sparse in forward"
# topics = ["layout"]
# cause = """
# `serialize_tensor_meta` asks each tensor for its strides. Compressed sparse tensors (CSR, CSC, BSR and BSC)
# have none, and raise. It should write other strides for them, because the file has the layout."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "SerializeError", "serialize.py:serialize", "serialize.py:serialize",
#         "serialize.py:serialize_graph",
#     ],
# ]
# fix = "save_asks_no_strides_of_sparse_tensors"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_export/serde/serialize.py, serialize_tensor_meta: t.stride()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward makes a tensor sparse with to_sparse_csr. The program runs, and cannot be saved: "Sparse CSR
tensors do not have strides".

`serialize_tensor_meta` asks each tensor for its strides. Compressed sparse tensors (CSR, CSC, BSR and BSC)
have none, and raise. It should write other strides for them, because the file has the layout.
"""

import io
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, adjacency, x):
        return adjacency.to_sparse_csr() @ x


def make():
    return Model(), (torch.eye(2), torch.ones(2, 1))


def show():
    model, args = make()
    torch.export.save(torch.export.export(model, args), io.BytesIO())


def make_workaround():
    """Use the layout COO, which is the default of to_sparse."""

    class Coordinates(Model):
        def forward(self, adjacency, x):
            return adjacency.to_sparse() @ x

    return Coordinates(), (torch.eye(2), torch.ones(2, 1))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._export.serde.serialize.SerializeError as error:
        if "do not have strides" not in str(error):
            raise
        sys.exit(
            "BUG: eager raises nothing, save raises SerializeError: Sparse CSR tensors do not have strides"
        )
    print("ok: neither eager nor save raises")
