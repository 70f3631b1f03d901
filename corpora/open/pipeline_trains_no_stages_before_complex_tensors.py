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


class Spectrum(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x)


class Model(nn.Module):
    def forward(self, x):
        return self.head(torch.fft.ifft(self.spectrum(self.body(x))).real)


def make():
    torch.manual_seed(0)
    model = Model()
    model.body, model.spectrum, model.head = nn.Linear(4, 4), Spectrum(), nn.Linear(4, 2)
    return model, (torch.ones(4, 4),)


def show():
    model, args = make()
    model(*args).mean().backward()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)  # one process: nothing is sent
    pipe = pipeline(make()[0], (torch.ones(2, 4),), split_spec={"spectrum": SplitPoint.END})
    stages = [pipe.build_stage(number, torch.device("cpu")) for number in range(2)]
    got = ScheduleInterleaved1F1B(stages, 2, loss_fn=lambda y, _: y.mean()).step(*args, target=torch.zeros(2))
    dist.destroy_process_group()
    return model(*args).shape, got.shape


def make_workaround():
    """Pass the complex tensor to the next stage as a real one."""

    class Pairs(Spectrum):
        def forward(self, x):
            return torch.view_as_real(super().forward(x))

    class Real(Model):
        def forward(self, x):
            z = torch.view_as_complex(self.spectrum(self.body(x)))
            return self.head(torch.fft.ifft(z).real)

    torch.manual_seed(0)
    model = Real()
    model.body, model.spectrum, model.head = nn.Linear(4, 4), Pairs(), nn.Linear(4, 2)
    return model, (torch.ones(4, 4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Failed to run stage backward" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the schedule raises {str(error).strip()[:90]!r}")
    print("ok: neither eager nor the schedule raises")
