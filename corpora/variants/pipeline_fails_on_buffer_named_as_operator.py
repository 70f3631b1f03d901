# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: TypeError if a buffer is called mean and the same stage calls x.mean()"
# variant-of = "pipeline_reads_buffer_for_value"
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "TypeError", "_IR.py:forward", "_IR.py:run", "_IR.py:call_module"],
# ]
# fix = "pipeline_names_state_as_stages_do"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: inputs_to_state[attr.name]"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A stage reads the buffer `mean` and computes a mean. The pipeline raises TypeError: the argument `mean_1`
is missing.

The node of the buffer is called `mean_1` in the stage and `mean` in the graph of stages. `Pipe._from_traced`
looks for state by the name `mean`, so that `mean_1` stays an argument.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


class Model(nn.Module):
    def forward(self, x):
        return (self.child(x) - self.mean).mean()


def make():
    model = Model()
    model.child = nn.ReLU()
    model.register_buffer("mean", torch.tensor(1.0))
    return model, (torch.tensor([3.0]),)


def show():
    model, args = make()
    pipeline(model, args, split_spec={"child": SplitPoint.BEGINNING})(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, the pipeline raises {error!r:.100}")
    print("ok: neither eager nor the pipeline raises")
