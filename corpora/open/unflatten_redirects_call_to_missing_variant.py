# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten redirects a call to a variant of its graph that hangs elsewhere"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "unflatten.py:unflatten",
#         "unflatten.py:__init__",
#         "graph.py:lint",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, _deduplicate_modules: seen_target = _compute_accessor(...)"
# ///
"""A call of outer.seq.0 is redirected to outer.seq.0@1, which hangs under outer.seq@1, not under outer.seq.

The first call of outer.seq is never used, so that its graph has no output and the second call, outer.seq@1,
keeps a graph of its own, with the child 0@1 in it. The third call of the child has the same graph as 0@1 and
is merged with it, under a target put together from names alone, as if the parent were no variant.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.outer = nn.Module()
        self.outer.seq = nn.Sequential(nn.ReLU())

    def forward(self, x):
        self.outer.seq(x)
        x = self.outer.seq(x + 1)
        return self.outer.seq[0](x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    try:
        seen = torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)
    except RuntimeError as error:
        print(f"BUG: eager gives {model(*args)}, unflatten raises {error}")
        sys.exit(1)
    print(f"ok: eager gives {model(*args)}, unflatten {seen}")
