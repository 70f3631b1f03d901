# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "All that a loaded program records begins at offset 0"
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
# affected = "2.13.0"
# at-fault = "torch/_export/serde/serialize.py, deserialize_tensor_meta: empty_strided without storage_offset"
# ///
"""What a loaded graph records of a slice begins at offset 0, whatever the slice; so do inputs and state.

The file holds the offsets (serialize_tensor_meta writes storage_offset), but deserialize_tensor_meta makes
the fake tensor of sizes and strides alone. Who plans memory by what is recorded is misled.
"""

import io
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3)[1:])
        self.register_buffer("buf", torch.zeros(3)[1:])

    def forward(self, x):
        return x[1:] * self.w + self.buf


def make():
    return Model(), (torch.ones(4)[1:],)


def reload(ep):
    buffer = io.BytesIO()
    torch.export.save(ep, buffer)
    buffer.seek(0)
    return torch.export.load(buffer)


def offset(ep):
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.slice.Tensor)
    return node.meta["val"].storage_offset()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    expected, seen = offset(ep), offset(reload(ep))
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: the offset of x[1:] is {expected}, in the loaded program {seen}")
    sys.exit(bug)
