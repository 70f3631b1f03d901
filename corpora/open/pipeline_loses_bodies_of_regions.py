# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD176"
# title = "pipeline: RuntimeError for a model with a no_grad block"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "a no_grad block, as in a rotary embedding"
# evidence = ["zoo:transformers/llama"]
# topics = ["no-grad", "control-flow"]
# cause = """
# The body of the block is a graph that the stage reads with get_attr. `_outline_submodules` ignores
# `seen_attrs`, the list of these, so that the stage does not have the graph. It should copy the graphs, as
# unflatten does."""
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
#         "_IR.py:_from_traced",
#         "_unflatten.py:_outline_submodules",
#         "graph.py:lint",
#     ],
# ]
# fix = "pipeline_keeps_subgraphs"
# upstream = "https://github.com/pytorch/pytorch/issues/184361"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_unflatten.py, _outline_submodules: seen_attrs is not used"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a no_grad block cannot become a pipeline: "Node submod_1 target submod_1 references
nonexistent attribute".

The body of the block is a graph that the stage reads with get_attr. `_outline_submodules` ignores
`seen_attrs`, the list of these, so that the stage does not have the graph. It should copy the graphs, as
unflatten does.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args)


def make_workaround():
    """Detach the result instead of computing it under no_grad."""

    class Detaching(Model):
        def forward(self, x):
            return (x + 1).detach()

    return Detaching(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "references nonexistent attribute" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")
