# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD187"
# title = "torch.export.load: all recorded tensors have storage offset 0"
# harm = "cosmetic"
# reach = "everyday"
# reach-because = "slices in a model that is loaded: only the recorded offsets are wrong"
# evidence = ["zoo:transformers/beit", "zoo:module_db/nn.MultiheadAttention"]
# topics = ["views"]
# cause = """
# `serialize_tensor_meta` writes the offset to the file, but `deserialize_tensor_meta` makes the fake tensor
# from sizes and strides only. It should set the offset as well."""
# path = "nonstrict+reload:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["fake", "mismatch", "offset", "reload"],
#     ["guards", "mismatch", "recorded", "offset", "parameter"],
#     ["guards", "mismatch", "recorded", "offset", "buffer"],
#     ["guards", "mismatch", "recorded", "offset", "input"],
# ]
# fix = "load_restores_storage_offsets"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, deserialize_tensor_meta: empty_strided without storage_offset"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In a loaded graph, all recorded tensors have storage offset 0: slices, inputs and state.

`serialize_tensor_meta` writes the offset to the file, but `deserialize_tensor_meta` makes the fake tensor
from sizes and strides only. It should set the offset as well.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2)[1:])
        self.register_buffer("buf", torch.zeros(2)[1:])

    def forward(self, x):
        return x[1:] * self.w + self.buf


def make():
    return Model(), (torch.ones(3)[1:],)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    graph = torch.export.load(file).graph
    (node,) = graph.find_nodes(op="call_function", target=torch.ops.aten.slice.Tensor)
    return 2, node.meta["val"].storage_offset()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"x[1:] begins at offset 2, in the loaded graph at {got}")
    raise SystemExit(bug)
