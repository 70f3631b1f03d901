# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: RuntimeError for a model with torch.cond"
# variant-of = "pipeline_loses_bodies_of_regions"
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
# fix = "pipeline_keeps_subgraphs"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe._from_traced: not all children are stages"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with torch.cond cannot become a pipeline: "Unable to find nn_module_stack for node sin".

The branches are children of the split module, next to the stages. `split_module` lists the stages in
meta["partition_names"], but `Pipe._from_traced` takes every child that is a GraphModule for a stage.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Unable to find" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")
