# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD345"
# title = "torch.distributed.pipelining: backward fails if a stage passes a complex tensor to the next one"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a spectral layer at the boundary of two stages"
# topics = ["dtypes", "autograd"]
# cause = """
# A tensor that one stage passes to the next gets a gradient only if `is_floating_point()` is true. It is
# false for complex tensors, which have gradients too. So the earlier stage gets no gradient, and its backward
# pass fails. `_PipelineStage` should also test for complex dtypes."""
# path = "pipeline:scheduled@cpu"
# check = "outputs"
# kind = "crash"
# stage = "run"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "stage.py:backward_maybe_with_nosync", "stage.py:<lambda>",
#         "_backward.py:stage_backward"],
# ]
# fix = "pipeline_sends_gradients_of_complex_tensors"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/stage.py, _create_act_send_info: is_floating_point() is false"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The first stage returns a complex tensor, and the second stage computes with it. Eager trains both. With a
schedule, the backward pass of the first stage fails.

A tensor that one stage passes to the next gets a gradient only if `is_floating_point()` is true. It is false
for complex tensors, which have gradients too. So the earlier stage gets no gradient, and its backward pass
fails. `_PipelineStage` should also test for complex dtypes.
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleInterleaved1F1B, SplitPoint, pipeline
from torch.testing._internal.distributed.fake_pg import FakeStore


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, z):
        return self.head(torch.fft.ifft(z).real)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = Head()

    def forward(self, x):
        return self.head(torch.fft.fft(self.body(x)))


def make():
    return Model(), (torch.ones(4, 4),)


def loss(output, target):
    return output.mean()


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
    loss(model(*args), None).backward()
    return model(*args).shape, step(make()[0], args, {"head": SplitPoint.BEGINNING}).shape


def make_workaround():
    """Pass the complex tensor to the next stage as a real one."""

    class Real(Model):
        def __init__(self):
            super().__init__()
            self.head = RealHead()

        def forward(self, x):
            return self.head(torch.view_as_real(torch.fft.fft(self.body(x))))

    class RealHead(Head):
        def forward(self, pairs):
            return super().forward(torch.view_as_complex(pairs))

    return Real(), (torch.ones(4, 4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Failed to run stage backward" not in str(error):
            raise
        print(f"BUG: eager raises nothing, the schedule raises {str(error).strip()[:90]!r}")
        raise SystemExit(1) from None
    print("ok: neither eager nor the schedule raises")
