# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.load: a buffer in the memory of a parameter requires grad"
# severity = "C"
# severity-because = "a buffer in the memory of a parameter"
# cause = """
# _build_file_map makes the flat tensor that all weights of a file are views of require grad if the first
# of them does."""
# path = "nonstrict+reload:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer", "at-start"]]
# fix = "load_leaves_gradients_to_each_weight"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/pt2_archive/_package.py, _build_file_map: requires_grad_ of what others view"
# ///
"""A buffer in the memory of a parameter requires grad after save and load; updating it in place then raises.

Both are written to one file. _build_file_map makes its tensor with the requires_grad of whatever name comes
first, the parameter, and of what is no parameter _load_state_dict takes a view of that as it is.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("part", self.w.detach()[1:])

    def forward(self, x):
        return x * self.part


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    file = io.BytesIO()
    torch.export.save(torch.export.export(*make()), file)
    file.seek(0)
    bug = torch.export.load(file).module().part.requires_grad
    print("BUG:" if bug else "ok:", f"the buffer requires grad: False in eager, {bug} after loading")
    raise SystemExit(bug)
