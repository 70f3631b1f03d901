# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a pipeline cannot be called with the nested inputs that it was made with"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "_IR.py:forward",
#         "_IR.py:run",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.forward: the inputs are not flattened"
# ///
"""A list of two tensors: RuntimeError: Expected positional argument for ... pair_1.

The split module takes the leaves of the inputs, one placeholder each, and Pipe.forward hands it what it was
called with. Only the code of a first stage that takes as many arguments as the model flattens them.
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
    return Model(), (torch.ones(2), [torch.ones(2), torch.ones(2)])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    points = {name: SplitPoint.BEGINNING for name, _ in model.named_children()}
    try:
        pipeline(model, args, split_spec=points)(*args)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = seen.startswith("RuntimeError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, the pipeline raises {seen.partition(chr(10))[0]}")
    sys.exit(bug)
