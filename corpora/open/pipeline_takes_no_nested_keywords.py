# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a pipeline cannot be called with the nested keyword inputs that it was made with"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "TypeError",
#         "_IR.py:forward",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.forward: Signature.bind of the names of leaves"
# ///
"""A keyword that is a tuple of tensors: TypeError: missing a required argument: 'pair_0'.

The split module takes the leaves of the inputs, one placeholder each, and Pipe.forward binds the keywords
that it was called with to the names of those placeholders. Only the code of a first stage that takes as many
arguments as the model flattens them.
"""

import sys
import warnings

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def forward(self, x, pair):
        return x + pair[0] + pair[1]


def make():
    return Model(), (torch.ones(2),), {"pair": (torch.ones(2), torch.ones(2))}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args, kwargs = make()
    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    try:
        pipeline(model, args, kwargs, split_spec=points)(*args, **kwargs)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("TypeError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, the pipeline raises {seen.partition(chr(10))[0]}")
    sys.exit(bug)
