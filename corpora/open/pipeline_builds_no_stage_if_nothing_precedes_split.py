# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD346"
# title = "torch.distributed.pipelining: AttributeError 'submod_pp_0' for a split before the first layer"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a split before each layer, also before the first one"
# topics = ["names"]
# cause = """
# The name of a stage contains the number of splits before it. If nothing runs before the first split, the
# first stage is called submod_pp_1. `Pipe.get_stage_module` makes the name from the index of the stage, and
# looks for submod_pp_0. It should take the stages in the order of their calls."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# undetected-because = "the paths do not split before the first child"
# fix = "pipeline_finds_stages_by_their_order"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.get_stage_module: makes a name from a number"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model is split before each of its two layers. The pipeline has two stages, and the first one cannot
be built: there is no submod_pp_0.

The name of a stage contains the number of splits before it. If nothing runs before the first split, the first
stage is called submod_pp_1. `Pipe.get_stage_module` makes the name from the index of the stage, and looks for
submod_pp_0. It should take the stages in the order of their calls.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline

SPLITS = {"0": SplitPoint.BEGINNING, "1": SplitPoint.BEGINNING}


def make():
    return nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), (torch.ones(2, 3),)


def show():
    model, args = make()
    pipe = pipeline(make()[0], args, split_spec=SPLITS)
    stages = [pipe.get_stage_module(number) for number in range(pipe.num_stages)]
    return len(model), len(stages)


def make_workaround():
    """Leave out the split before the first layer."""
    SPLITS.pop("0", None)
    return make()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: the pipeline has two stages, the first one raises {error!r:.100}")
    print("ok: both stages are there")
