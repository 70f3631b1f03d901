# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a buffer assigned a shape that does not broadcast: the exported program fails on its own example"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "The size of tensor must match the size"],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ into a buffer of another shape or dtype"
# ///
"""A cache of two elements grows to three: export succeeds, and no call of the program does.

Export ends the graph with a copy_ into each buffer that was assigned, and does not ask whether the new value
has the shape of the old one. The cause is that of export_copies_another_shape_into_buffer; only the message
differs, as the two shapes do not even broadcast.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(2))

    def forward(self, x):
        self.cache = torch.cat([self.cache, x])
        return self.cache.sum()


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    try:
        program = torch.export.export(make()[0], args, strict=False).module()
    except Exception as error:
        print(f"ok: export refuses the model: {type(error).__name__}")
        sys.exit(0)
    try:
        seen = program(*args)
    except RuntimeError as error:
        seen = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    bug = not (isinstance(seen, torch.Tensor) and torch.equal(expected, seen))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {seen}")
    sys.exit(bug)
