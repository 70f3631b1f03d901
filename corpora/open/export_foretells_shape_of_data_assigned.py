# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the graph records shapes that its nodes do not have"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "shape", "exportdiff.twice.default"]]
# affected = "2.13.0"
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
# ///
"""`y.data = x[:1]` gives `y` one element; the program goes on with two, and says of it that it is one.

The setter changes the fake tensor, from which the metadata of later nodes is made, but its proxy still stands
for the old one. The cause is that of export_ignores_assignment_to_data; this shows it where no output depends
on `y`. The custom operator has a fake kernel that is right.
"""

import sys
import warnings

import torch
from torch import nn


@torch.library.custom_op("exportdiff::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        y.data = x[:1]
        twice(y)
        return x


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    node = next(n for n in ep.graph.nodes if n.target is torch.ops.exportdiff.twice.default)
    told, given = node.meta["val"].shape, node.args[0].meta["val"].shape
    bug = told != given
    print(f"{'BUG' if bug else 'ok'}: twice of {list(given)} is recorded as {list(told)}")
    sys.exit(bug)
