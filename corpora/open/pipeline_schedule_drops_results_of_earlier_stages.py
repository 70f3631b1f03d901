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
# A stage sends a result to the stages that use it. `_create_act_send_info` ignores that the model itself may
# return this result. A schedule returns only the results of the last stage, and computes the loss from them.
# So a result of an earlier stage is lost, without an error. Such a model should be refused."""
# path = "pipeline:scheduled@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "structure"]]
# fix = "pipeline_refuses_results_of_earlier_stages"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/stage.py, _PipelineStage._create_act_send_info: forgets the output"
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

A stage sends a result to the stages that use it. `_create_act_send_info` ignores that the model itself may
return this result. A schedule returns only the results of the last stage, and computes the loss from them.
So a result of an earlier stage is lost, without an error. Such a model should be refused.
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleInterleaved1F1B, SplitPoint, pipeline
from torch.testing._internal.distributed.fake_pg import FakeStore


class Model(nn.Module):
    def forward(self, x):
        x = self.body(x)
        return self.head(x), x  # first difference


def make():
    torch.manual_seed(0)
    model = Model()
    model.body, model.head = nn.Linear(3, 3), nn.Linear(3, 2)
    return model, (torch.ones(4, 3),)


def show():
    model, args = make()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)  # one process: nothing is sent
    pipe = pipeline(make()[0], (torch.ones(2, 3),), split_spec={"head": SplitPoint.BEGINNING})
    stages = [pipe.build_stage(number, torch.device("cpu")) for number in range(2)]
    got = ScheduleInterleaved1F1B(stages, 2, loss_fn=lambda y, _: y[0].mean()).step(
        *args, target=torch.zeros(2)
    )
    dist.destroy_process_group()
    return len(model(*args)), len(got) if isinstance(got, tuple) else 1


def make_workaround():
    """Return a clone of each earlier result, made after the last split."""

    class Cloning(Model):
        def forward(self, x):
            hidden = self.body(x)
            return self.head(hidden), hidden.clone()

    torch.manual_seed(0)
    model = Cloning()
    model.body, model.head = nn.Linear(3, 3), nn.Linear(3, 2)
    return model, (torch.ones(4, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "only the last stage" not in str(error):
            raise
        expected = got = "refused"
    print(f"{'BUG' if expected != got else 'ok'}: tensors in eager: {expected}, from the schedule: {got}")
    raise SystemExit(expected != got)
