# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline ends with StopIteration for a model that computes nothing"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "StopIteration",
#         "_IR.py:pipeline",
#         "_IR.py:from_tracing",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.from_tracing: next(iter(split.children()))"
# ///
"""A model that hands back its input has no stage, and from_tracing takes the first one without asking.

split_module makes a partition of operators alone; where there are none the split module has no children.
"""

import sys
import warnings

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def forward(self, x):
        return x


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    try:
        pipeline(model, args, split_spec=points)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("StopIteration")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, pipeline raises {seen[:100]}")
    sys.exit(bug)
