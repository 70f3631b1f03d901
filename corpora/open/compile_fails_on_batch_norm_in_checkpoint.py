# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD008"
# title = "torch.compile(backend='eager'): backward raises for a batch norm inside torch.utils.checkpoint"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a checkpointed module that updates a buffer when it trains, with backend='eager'"
# topics = ["checkpoint", "norms"]
# cause = """
# In the compiled model, the running statistics are arguments of the checkpoint. `checkpoint` saves its
# arguments, forward updates the statistics in place, and backward finds saved tensors that have changed. The
# backend is "eager"; `tag_activation_checkpoint_impl` should not pass buffers that the body updates as
# arguments."""
# path = "compile:compiled@cpu"
# check = "gradients"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "gradients",
#         "crash",
#         "backward",
#         "run",
#         "RuntimeError",
#         "graph.py:_engine_run_backward",
#         "checkpoint.py:unpack_hook",
#         "checkpoint.py:get_inputs",
#     ],
# ]
# trigger = ["region.checkpoint", "layer.batch_norm1d"]
# upstream = "https://github.com/pytorch/pytorch/pull/160883"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, tag_activation_checkpoint_impl: checkpoint(..., *args)"
# workaround = "none: backend=\"aot_eager\" trains, and finds most of the errors for which \"eager\" is used"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A batch norm in torch.utils.checkpoint trains in eager. Compiled, backward raises "modified by an inplace
operation".

In the compiled model, the running statistics are arguments of the checkpoint. `checkpoint` saves its
arguments, forward updates the statistics in place, and backward finds saved tensors that have changed. The
backend is "eager"; `tag_activation_checkpoint_impl` should not pass buffers that the body updates as
arguments.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

    def forward(self, x):
        return checkpoint(self.norm, x, use_reentrant=False)


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    model(*args).sum().backward()
    out = torch.compile(model, backend="eager")(*args)
    out.sum().backward()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        sys.exit(f"BUG: eager trains, compiled the backward pass raises {error}")
    print("ok: both train")
