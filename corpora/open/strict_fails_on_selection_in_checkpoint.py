# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): PendingUnbackedSymbolNotFound for x[x > 0] in a checkpoint"
# severity = "B"
# severity-because = "x[x > 0] in a checkpoint with a context_fn"
# cause = """
# proxy_mode_key runs the body once before it traces it, and the symbol that this run makes for the size
# waits for a node that never comes."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "PendingUnbackedSymbolNotFound"]]
# fix = "checkpoint_keeps_sizes_of_its_body"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/_higher_order_ops/wrap.py, proxy_mode_key: example_out is computed first"
# ///
"""`x[x > 0]` has a size that depends on data. In a checkpointed body it cannot be exported strictly.

proxy_mode_key runs the body to see what it returns, which makes a symbol for that size, and traces the body
before any node has bound the symbol.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    try:
        seen, bug = torch.export.export(model, args, strict=True).module()(*args), False
    except PendingUnbackedSymbolNotFound as error:
        seen, bug = str(error).splitlines()[0], True
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(*args)}, the exported program {seen}")
    raise SystemExit(bug)
