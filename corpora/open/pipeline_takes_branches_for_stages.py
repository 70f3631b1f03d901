# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline outlines the branches of torch.cond as if they were stages"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "_unflatten.py:_outline_submodules",
#         "unflatten.py:run_outer",
#         "unflatten.py:run_from",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: not all children are stages"
# ///
"""Any torch.cond, while_loop or map: RuntimeError: Unable to find nn_module_stack for node sin.

split_module leaves the branches as children of the split module, beside the stages, and says in
meta["partition_names"] which are which ("so callers can distinguish them"). _from_traced does not ask: it
outlines every child that is a GraphModule. Nodes of a branch have no nn_module_stack.
"""

import sys
import warnings

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


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
    bug = seen.startswith("RuntimeError")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, pipeline raises {seen[:100]}")
    sys.exit(bug)
