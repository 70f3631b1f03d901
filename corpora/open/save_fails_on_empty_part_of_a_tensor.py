# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD414"
# title = "torch.export.save: RuntimeError about an overflow if a buffer is an empty slice of a tensor"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a table split at an index: one part is empty if the index is the end"
# topics = ["buffers", "views"]
# cause = """
# `get_complete_tensor` computes how much of the memory the buffers of a group need, from their addresses. The
# address of an empty tensor is 0. If all buffers of the group are empty, the size is negative. It should take
# one of them as it is."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "_package.py:_package_state_dict",
#         "_package.py:_save_raw_tensors",
#         "_package_weights.py:get_complete_tensor",
#     ],
# ]
# fix = "save_writes_empty_parts"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/export/pt2_archive/_package_weights.py, get_complete_tensor: address 0 of an empty tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer is the rest of a table, and empty. save raises "numel: integer multiplication overflow".

`get_complete_tensor` computes how much of the memory the buffers of a group need, from their addresses. The
address of an empty tensor is 0. If all buffers of the group are empty, the size is negative. It should take
one of them as it is.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rest", torch.zeros(4)[4:])

    def forward(self, x):
        return torch.cat([x, self.rest])


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.save(torch.export.export(model, args), io.BytesIO())


def make_workaround():
    """Copy the slice with clone()."""
    model = Model()
    model.register_buffer("rest", torch.zeros(4)[4:].clone())
    return model, (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "integer multiplication overflow" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, save raises {error!r:.100}")
    print("ok: neither eager nor save raises")
