# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD347"
# title = "torch.distributed.pipelining: RecursionError if the same model is split a second time"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a script that tries several numbers of stages with the same model"
# topics = ["shared-modules"]
# cause = """
# `annotate_split_points` replaces the forward of a submodule, and keeps the original forward as
# `_orig_forward`. The second time, it keeps the replacement as `_orig_forward`, so the replacement calls
# itself. `pipeline` should restore the forward after it has traced the model."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# undetected-because = "each path makes a fresh model"
# fix = "pipeline_restores_forward_of_split_modules"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, pipeline: leaves the changed forward of submodules"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model is split into two stages, and then once more. The second split fails: "It seems that we cannot
capture your model as a full graph".

`annotate_split_points` replaces the forward of a submodule, and keeps the original forward as
`_orig_forward`. The second time, it keeps the replacement as `_orig_forward`, so the replacement calls
itself. `pipeline` should restore the forward after it has traced the model.
"""

import sys

import torch
from torch import nn
from torch.distributed.pipelining import SplitPoint, pipeline


def make():
    return nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)), (torch.ones(2, 3),)


def show():
    model, args = make()
    expected = model(*args)
    for _ in range(2):
        pipe = pipeline(model, args, split_spec={"1": SplitPoint.BEGINNING})
    (got,) = pipe(*args)
    return expected, got


def make_workaround():
    """Split a deep copy of the model each time."""
    import copy

    model, args = make()
    return copy.deepcopy(model), args


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if not isinstance(error.__cause__, RecursionError):
            raise
        sys.exit(f"BUG: splitting the model again raises {error.__cause__!r:.100}")
    print("ok: the model can be split again")
