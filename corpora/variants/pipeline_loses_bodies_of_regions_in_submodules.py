# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "pipeline: AttributeError for a submodule with a no_grad block"
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
#         "AttributeError",
#         "unflatten.py:_sink_params",
#         "unflatten.py:_sink_params",
#         "unflatten.py:finalize",
#     ],
# ]
# fix = "pipeline_keeps_subgraphs"
# upstream = ""
# at-fault = "torch/distributed/pipelining/_unflatten.py, _outline_submodules: seen_attrs is not used"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A submodule has a no_grad block. `pipeline` raises "'InterpreterModule' object has no attribute
'submod_1'".

The body of the block is a graph that the stage reads with get_attr. `_outline_submodules` ignores
`seen_attrs`, the list of these, so that the stage does not have the graph. It should copy the graphs, as
unflatten does.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Child(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x + 1


def make():
    return torch.nn.Sequential(Child()), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")
