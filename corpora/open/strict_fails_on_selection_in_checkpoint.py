# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD206"
# title = "torch.export(strict=True): PendingUnbackedSymbolNotFound for x[x > 0] in a checkpoint"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "x[x > 0] in a checkpoint with a context_fn"
# topics = ["checkpoint", "indexing"]
# cause = """
# `proxy_mode_key` first runs the body of the checkpoint to see what it returns. This makes a symbol for the
# size. Then it traces the body, and no node has bound the symbol yet."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "PendingUnbackedSymbolNotFound"]]
# fix = "checkpoint_keeps_sizes_of_its_body"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/wrap.py, proxy_mode_key: example_out is computed first"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x[x > 0]` has a size that depends on data. In a checkpoint with a context_fn, strict export raises.

`proxy_mode_key` first runs the body of the checkpoint to see what it returns. This makes a symbol for the
size. Then it traces the body, and no node has bound the symbol yet.
"""

import sys

import torch
from torch import nn
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts


def contexts():
    return create_selective_checkpoint_contexts([])


class Model(nn.Module):
    def forward(self, x):
        def body(x):
            return x[x > 0].sum()

        return checkpoint(body, x, use_reentrant=False, context_fn=contexts)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except PendingUnbackedSymbolNotFound as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the exported program {got}")
