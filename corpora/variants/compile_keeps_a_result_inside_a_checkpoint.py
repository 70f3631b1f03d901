# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: error if a checkpoint within a checkpoint returns a tensor from outside"
# variant-of = "compile_forgets_a_parameter_that_checkpoint_returns"
# path = "compile:compiled@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run",
#      "InternalTorchDynamoError", "output_graph.py:compile_and_call_fx_graph", "graph.py:lint"],
# ]
# fix = "checkpoint_returns_what_is_from_outside"
# upstream = ""
# at-fault = "torch/_dynamo/variables/higher_order_ops.py, overwrite_tensor_vt_proxy: of inputs as well"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "fixed"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The inner one of two checkpoints returns x as it is. After both, forward uses x again: torch.compile
raises.

Dynamo makes everything that the body of a checkpoint returns a result of the call, also x. The inner call is
a node in the graph of the outer checkpoint. The graph outside cannot use it: "Argument 'getitem' of Node
'add' does not belong to this Graph". Inputs should keep their nodes.
"""

import sys

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def forward(self, x):
        def outer(t):
            return 2 * checkpoint(lambda u: x, t, use_reentrant=False)

        return checkpoint(outer, x, use_reentrant=False) + x


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    model.compile(backend="eager")
    model(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.InternalTorchDynamoError as error:
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {type(error).__name__}")
    print("ok: neither eager nor torch.compile raises")
