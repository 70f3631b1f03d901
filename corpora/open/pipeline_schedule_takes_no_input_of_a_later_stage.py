# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD348"
# title = "torch.distributed.pipelining: a schedule fails if a later stage reads an input, such as a mask"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an attention mask that each layer reads"
# topics = ["attention", "arguments"]
# cause = """
# The arguments of a traced stage are what it reads: results of earlier stages, and inputs of the model.
# `forward_one_chunk` passes all positional arguments to the first stage and none to the others, and all
# keyword arguments to each stage. It should pass to each traced stage only what this stage reads."""
# path = "pipeline:scheduled@cpu"
# check = "outputs"
# kind = "crash"
# stage = "run"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "schedules.py:_step_microbatches",
#         "schedules.py:_perform_action", "stage.py:forward_one_chunk"],
#     ["outputs", "crash", "run", "ValueError", "schedules.py:_step_microbatches",
#         "schedules.py:_perform_action", "stage.py:set_local_fwd_input"],
# ]
# fix = "pipeline_gives_stages_what_they_read"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/stage.py, forward_one_chunk: composite_args = args"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The second stage reads a mask, which is an argument of the model. Eager runs, and the schedule fails.

The arguments of a traced stage are what it reads: results of earlier stages, and inputs of the model.
`forward_one_chunk` passes all positional arguments to the first stage and none to the others, and all keyword
arguments to each stage. It should pass to each traced stage only what this stage reads.
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
        self.head = nn.Linear(3, 3)

    def forward(self, x, mask):
        return self.head(self.body(x)) * mask


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 3), torch.ones(2, 3))


def show():
    model, args = make()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)  # one process: nothing is sent
    pipe = pipeline(
        make()[0], (torch.ones(1, 3), torch.ones(1, 3)), split_spec={"head": SplitPoint.BEGINNING}
    )
    stages = [pipe.build_stage(number, torch.device("cpu")) for number in range(2)]
    got = ScheduleInterleaved1F1B(stages, 2, loss_fn=lambda y, _: y.mean()).step(*args, target=torch.zeros(2))
    dist.destroy_process_group()
    return model(*args).shape, got.shape


def make_workaround():
    """Clone the input before the first split: then the first stage passes it on."""

    class Passing(Model):
        def forward(self, x, mask):
            mask = mask.clone()
            return self.head(self.body(x)) * mask

    torch.manual_seed(0)
    return Passing(), (torch.ones(2, 3), torch.ones(2, 3))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (RuntimeError, ValueError) as error:
        sys.exit(f"BUG: eager raises nothing, the schedule raises {str(error).strip()[:60]!r}")
    print("ok: neither eager nor the schedule raises")
