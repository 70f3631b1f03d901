# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD009"
# title = "torch.compile: NotImplementedError for torch.cond inside torch.utils.checkpoint"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "torch.cond in a checkpointed block, compiled"
# topics = ["control-flow", "checkpoint"]
# cause = """
# `tag_activation_checkpoint_impl` runs the body under the dispatch modes of selective checkpointing, also
# if the user passed no context_fn. These modes do not declare `supports_higher_order_operators`, and pass
# no call of torch.cond on."""
# path = "compile:compiled@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "NotImplementedError", "wrap.py:run_with_interpreter"]]
# fix = "checkpoint_passes_control_flow"
# upstream = "https://github.com/pytorch/pytorch/issues/147879"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/utils/checkpoint.py, _CachingTorchDispatchMode: supports_higher_order_operators is False"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A checkpointed function uses torch.cond. Eager runs it; with any backend, the compiled model raises
NotImplementedError.

`tag_activation_checkpoint_impl` runs the body under the dispatch modes of selective checkpointing, also if
the user passed no context_fn. These modes do not declare `supports_higher_order_operators`, and pass no call
of torch.cond on.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def forward(self, x):
        def body(x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))

        return checkpoint(body, x, use_reentrant=False)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.compile(model, backend="eager")(*args)


def make_workaround():
    """Checkpoint what each branch computes, instead of torch.cond."""

    class Branching(nn.Module):
        def forward(self, x):
            def sin(x):
                return checkpoint(torch.sin, x, use_reentrant=False)

            def cos(x):
                return checkpoint(torch.cos, x, use_reentrant=False)

            return torch.cond(x.sum() > 0, sin, cos, (x,))

    return Branching(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except NotImplementedError as error:
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {error!r:.100}")
    print(f"ok: eager gives {expected}, torch.compile {got}")
