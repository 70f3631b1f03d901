# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export of torch.utils.checkpoint without context_fn ends with a missing key"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "_trace.py:wrapped_fn",
#         "utils.py:flat_fn",
#         "graph_capture_wrappers.py:functional_call",
#     ],
# ]
# affected = "2.13.0"
# at-fault = "torch/_higher_order_ops/wrap.py, tag_activation_checkpoint's proxy_mode_key"
# ///
"""Activation checkpointing in its plain form cannot be exported strictly: "_checkpoint_context_fn".

proxy_mode_key copies gmod.meta["_checkpoint_context_fn"] without asking whether it is there, and Dynamo
sets it only if the user passes a context_fn. With one, and in non-strict export, the model is exported.
"""

import sys
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def forward(self, x):
        return checkpoint(torch.sin, x, use_reentrant=False)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    model(*args)
    model, args = make()
    try:
        torch.export.export(model, args, strict=True)
        seen = "nothing"
    except Exception as error:
        seen = f"{type(error).__name__}: {error}".splitlines()[0]
    bug = seen.startswith("RuntimeError: _checkpoint_context_fn")
    print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {seen[:120]}")
    sys.exit(bug)
