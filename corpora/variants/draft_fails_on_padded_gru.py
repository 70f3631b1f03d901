# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: PendingUnbackedSymbolNotFound for a GRU whose packed result is padded again"
# variant-of = "draft_fails_on_packed_gru"
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "PendingUnbackedSymbolNotFound",
#         "proxy_tensor.py:track_tensor_tree",
#         "proxy_tensor.py:_set_unbacked_bindings",
#         "symbolic_shapes.py:compute_unbacked_bindings",
#     ],
# ]
# trigger = ["idiom.packed"]
# upstream = ""
# at-fault = "torch/_decomp/decompositions.py, one_layer_rnn_data: torch.split(inp, list(batch_sizes))"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model packs rows of several lengths, runs a GRU on them, and pads the result. Eager runs;
draft_export raises PendingUnbackedSymbolNotFound.

The tracer records `aten.gru.data` as one operator. Its decomposition, `one_layer_rnn_data`, reads the batch
sizes of the steps one by one, and each becomes a new symbol. The shapes of the results contain only sums of
these symbols, so the tracer cannot bind them. The results should have as many rows as the input.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(1, 1, batch_first=True)

    def forward(self, x, lengths):
        rows = pack_padded_sequence(x, lengths, batch_first=True)
        return pad_packed_sequence(self.layer(rows)[0], batch_first=True)[0]


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 2, 1), torch.tensor([2, 1]))


def show():
    model, args = make()
    torch.export.draft_export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except PendingUnbackedSymbolNotFound as error:
        sys.exit(f"BUG: eager raises nothing, draft_export raises {error!r:.100}")
    print("ok: neither eager nor draft_export raises")
