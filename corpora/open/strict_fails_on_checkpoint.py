# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD202"
# title = "torch.export(strict=True): RuntimeError for torch.utils.checkpoint without context_fn"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "activation checkpointing in its plain form; strict export fails"
# evidence = ["https://docs.pytorch.org/docs/stable/checkpoint.html"]
# topics = ["checkpoint"]
# cause = """
# `proxy_mode_key` of tag_activation_checkpoint copies `gmod.meta["_checkpoint_context_fn"]`, which is set
# only if the user passes a context_fn."""
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
# fix = "checkpoint_needs_no_context_fn"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, tag_activation_checkpoint's proxy_mode_key"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.utils.checkpoint in its plain form cannot be exported with strict=True. A KeyError for
`_checkpoint_context_fn` becomes a RuntimeError.

`proxy_mode_key` of tag_activation_checkpoint copies `gmod.meta["_checkpoint_context_fn"]`, which is set only
if the user passes a context_fn.
"""

import sys
import traceback

import torch
from torch.utils.checkpoint import checkpoint


class Model(torch.nn.Module):
    def forward(self, x):
        return checkpoint(torch.sin, x, use_reentrant=False)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if traceback.extract_tb(error.__cause__.__traceback__)[-1].name != "proxy_mode_key":
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
