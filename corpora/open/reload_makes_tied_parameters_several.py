# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A parameter with two names is two parameters after save and load"
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["sharing", "mismatch", "one-tensor-became-several", "parameter"],
#     ["sharing", "mismatch", "one-tensor-became-several", "buffer"],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/pt2_archive/_package.py, _load_state_dict: nn.Parameter(...) for each name"
# ///
"""One parameter under two names is two parameters after a program was saved and loaded.

Their memory is still one, so that forward() sees nothing of it; but gradients flow to one of them only, an
optimizer counts both, and module.to(dtype) parts them for good. The file keeps each storage once, "so that
the aliasing of weights is preserved", but _load_state_dict makes a new Parameter (and a new tensor of a
buffer) for each name.
"""

import io
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
        self.b.weight = self.a.weight
        self.register_buffer("buf", torch.ones(2))
        self.register_buffer("same", self.buf)

    def forward(self, x):
        return self.b(self.a(x)) + self.buf + self.same


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 2),)


def reload(ep):
    buffer = io.BytesIO()
    torch.export.save(ep, buffer)
    buffer.seek(0)
    return torch.export.load(buffer)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    loaded = reload(torch.export.export(model, args, strict=False)).module()
    expected, seen = len(list(model.parameters())), len(list(loaded.parameters()))
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: the model has {expected} parameters, after loading {seen}")
    sys.exit(bug)
