# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "After an export that failed, the sizes of the example inputs stay dynamic"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "global", "sizes marked on the example inputs"]]
# affected = "2.13.0"
# at-fault = "torch/export/dynamic_shapes.py, _process_dynamic_shapes: marks that only a success clears"
# ///
"""A refused export with Dim.AUTO or Dim.DYNAMIC marks the caller's tensor: the next one is dynamic too.

The marks are made on the example inputs themselves and cleared in make_constraints
(torch/_export/non_strict_utils.py), which an export that raises never reaches.
"""

import contextlib
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    with contextlib.suppress(Exception):  # refused: which branch depends on the data
        torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=False)
    ep = torch.export.export(nn.Identity(), args, strict=False)
    (x,) = (node for node in ep.graph.nodes if node.op == "placeholder")
    shape = x.meta["val"].shape
    bug = not isinstance(shape[0], int)
    print(f"{'BUG' if bug else 'ok'}: exported without dynamic shapes, x has shape {tuple(shape)}")
    sys.exit(bug)
