# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD010"
# title = "torch.compile: refuses dropout inside torch.utils.checkpoint even if no gradient is needed"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a checkpointed block with dropout, run in train mode under no_grad: compiling fails"
# topics = ["random", "checkpoint"]
# cause = """
# `remat_using_tags_for_fwd_loss_bwd_graph` asks for random operators first, and only then whether the graph
# has a backward pass. It should ask in the other order."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "BackendCompilerFailed",
#         "graph_compile.py:aot_stage2_compile",
#         "graph_compile.py:aot_stage2_inference",
#         "remat_using_tags_for_fwd_loss_bwd_graph_pass.py:remat_using_tags_for_fwd_loss_bwd_graph",
#     ],
# ]
# fix = "random_numbers_are_refused_where_recomputed"
# upstream = "https://github.com/pytorch/pytorch/issues/187985"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = """
# torch/_functorch/_activation_checkpointing/remat_using_tags_for_fwd_loss_bwd_graph_pass.py,
# remat_using_tags_for_fwd_loss_bwd_graph: has_recomputable_rng_ops comes first"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.compile refuses random numbers in a checkpoint, because backward would compute them again. Here
nothing needs a gradient.

`remat_using_tags_for_fwd_loss_bwd_graph` asks for random operators first, and only then whether the graph has
a backward pass. It should ask in the other order.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        return checkpoint(self.drop, x, use_reentrant=False)


def make():
    return Model(), (torch.zeros(2),)


def show():
    model, args = make()
    return model(*args), torch.compile(model, backend="aot_eager")(*args)


def make_workaround():
    """Use the checkpoint only where a gradient is needed."""

    class Asking(Model):
        def forward(self, x):
            return checkpoint(self.drop, x, use_reentrant=False) if x.requires_grad else self.drop(x)

    return Asking(), (torch.zeros(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.BackendCompilerFailed as error:
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {error!r:.100}")
    print(f"ok: eager gives {expected}, torch.compile {str(got)[:150]!r}")
