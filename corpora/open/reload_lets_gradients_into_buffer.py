# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD188"
# title = "torch.export.load: a buffer that shares memory with a parameter requires grad"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "a buffer in the memory of a parameter"
# topics = ["buffers", "tied-weights"]
# cause = """
# Parameter and buffer are in one file. `_build_file_map` makes one flat tensor for the file, which requires
# grad if its first weight does. The buffer is a view of it. The flat tensor should not require grad."""
# path = "nonstrict+reload:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "requires-grad", "buffer", "at-start"]]
# fix = "load_leaves_gradients_to_each_weight"
# upstream = ""
# at-fault = "torch/export/pt2_archive/_package.py, _build_file_map: requires_grad_ of what others view"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer is a view of a detached parameter. After save and load, it requires grad.

Parameter and buffer are in one file. `_build_file_map` makes one flat tensor for the file, which requires
grad if its first weight does. The buffer is a view of it. The flat tensor should not require grad.
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


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return model.part.requires_grad, torch.export.load(file).module().part.requires_grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the buffer requires grad: {expected} in eager, {got} after loading")
    raise SystemExit(bug)
