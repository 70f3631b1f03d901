# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD343"
# title = "ScheduleGPipe: accumulated gradients are too small, because each step divides them again"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "gradients that are accumulated over several steps of a schedule"
# evidence = ["https://github.com/pytorch/torchtitan/issues/1733"]
# topics = ["autograd"]
# cause = """
# After each step of a schedule, `scale_grads` divides the `.grad` of each parameter by the number of
# microbatches. If gradients are accumulated, `.grad` also contains the gradients of earlier steps, so these
# are divided again. `scale_grads` should divide only what this step has added."""
# path = "pipeline:stages@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# trigger = ["layer.linear"]
# undetected-because = "a schedule is not run twice without zeroing the gradients"
# upstream = "https://github.com/pytorch/torchtitan/issues/1733"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/distributed/pipelining/stage.py, scale_grads: p.grad.div_ also divides older gradients"
# workaround = "none: pass scale_grads=False, and divide the loss by the number of microbatches"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two steps of a schedule, each with two microbatches, accumulate gradients. Only half of the gradient of the
first step is in the sum.

After each step of a schedule, `scale_grads` divides the `.grad` of each parameter by the number of
microbatches. If gradients are accumulated, `.grad` also contains the gradients of earlier steps, so these are
divided again. `scale_grads` should divide only what this step has added.
"""

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleGPipe, pipeline
from torch.testing._internal.distributed.fake_pg import FakeStore

STEPS = 2


def make():
    return nn.Linear(1, 1, bias=False), (torch.ones(2, 1),)


def loss(output, target):
    return output.mean()


def show():
    model, args = make()
    for _ in range(STEPS):
        loss(model(*args), None).backward()

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)  # one process: nothing is sent
    pipe = pipeline(make()[0], (torch.ones(1, 1),))
    stage = pipe.build_stage(0, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=loss)
    for _ in range(STEPS):
        schedule.step(*args, target=torch.zeros(2))
    dist.destroy_process_group()
    (weight,) = stage.submod.parameters()
    return model.weight.grad, weight.grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the gradient is {expected} in eager, {got} in the pipeline")
    raise SystemExit(bug)
