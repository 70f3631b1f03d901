# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD344"
# title = "torch.distributed.pipelining: a schedule drops results that earlier stages compute"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model that returns its hidden states and its logits"
# topics = ["containers"]
# cause = """
# A stage sends a result to the stages that use it. `find_dst_rank` ignores that the model itself may return
# this result. A schedule returns only the results of the last stage, and computes the loss from them. So a
# result of an earlier stage is lost, without an error. `pipeline` should refuse to split such a model."""
# path = "pipeline:scheduled@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "structure"]]
# fix = "pipeline_refuses_results_of_earlier_stages"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/stage.py, _PipelineStage.find_dst_rank: 'output' counts as no user"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns its logits and its hidden states. After the split, a schedule returns only the logits.

A stage sends a result to the stages that use it. `find_dst_rank` ignores that the model itself may return
this result. A schedule returns only the results of the last stage, and computes the loss from them. So a
result of an earlier stage is lost, without an error. `pipeline` should refuse to split such a model.
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleInterleaved1F1B, SplitPoint, pipeline
from torch.testing._internal.distributed.fake_pg import FakeStore


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        hidden = self.body(x)
        return self.head(hidden), hidden  # first difference


def make():
    return Model(), (torch.ones(4, 3),)


def loss(output, target):
    return output[0].mean()


def step(model, args, split_spec, steps=1):
    """Run a schedule with two microbatches; all stages are in this process, so nothing is sent."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
    try:
        half = tuple(arg[: len(arg) // 2] for arg in args)
        pipe = pipeline(model, half, split_spec=split_spec)
        stages = [pipe.build_stage(i, torch.device("cpu")) for i in range(pipe.num_stages)]
        schedule = ScheduleInterleaved1F1B(stages, 2, loss_fn=loss)
        return schedule.step(*args, target=torch.zeros(2))
    finally:
        dist.destroy_process_group()


def show():
    model, args = make()
    given = step(make()[0], args, {"head": SplitPoint.BEGINNING})
    return len(model(*args)), len(given) if isinstance(given, tuple) else 1


def make_workaround():
    """Compute each result in the last stage, for example with nn.Identity."""

    class Passing(Model):
        def __init__(self):
            super().__init__()
            self.head = Head()

        def forward(self, x):
            return self.head(self.body(x))

    class Head(nn.Linear):
        def __init__(self):
            super().__init__(3, 2)

        def forward(self, hidden):
            return super().forward(hidden), hidden.clone()

    return Passing(), (torch.ones(4, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "only the last stage" not in str(error):
            raise
        print(f"ok: building the stage raises {error}")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected} tensors, the schedule {got}")
    raise SystemExit(bug)
