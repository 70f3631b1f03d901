# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD175"
# title = "pipeline: StopIteration for a model that returns its input"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a model that computes nothing"
# topics = ["unused-results"]
# cause = """
# `Pipe.from_tracing` takes the first stage with `next(...)`. This model has no operators, and so no stage."""
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
# fix = "pipeline_may_have_no_stage"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/_IR.py, Pipe.from_tracing: next(iter(split.children()))"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model that only returns its input cannot become a pipeline: StopIteration without a message.

`Pipe.from_tracing` takes the first stage with `next(...)`. This model has no operators, and so no stage.
"""

import sys

import torch
from torch.distributed.pipelining import pipeline


def make():
    return torch.nn.Identity(), (torch.ones(1),)


def show():
    model, args = make()
    pipeline(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except StopIteration as error:
        sys.exit(f"BUG: eager raises nothing, pipeline raises {error!r}")
    print("ok: neither eager nor pipeline raises")
