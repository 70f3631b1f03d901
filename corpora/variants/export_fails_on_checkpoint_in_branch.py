# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: KeyError for torch.utils.checkpoint in a branch of torch.cond"
# variant-of = "strict_fails_on_checkpoint"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "KeyError",
#         "proxy_tensor.py:__torch_function__",
#         "wrap.py:__call__",
#         "wrap.py:proxy_mode_key",
#     ],
# ]
# fix = "checkpoint_needs_no_context_fn"
# upstream = ""
# at-fault = "torch/_higher_order_ops/wrap.py, tag_activation_checkpoint's proxy_mode_key"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A branch of torch.cond uses torch.utils.checkpoint. Export raises KeyError '_checkpoint_context_fn'.

Dynamo traces the branches, and makes `tag_activation_checkpoint` of the call. `proxy_mode_key` copies
`gmod.meta["_checkpoint_context_fn"]`, which is set only if the user passes a context_fn.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def forward(self, x):
        def branch(x):
            return checkpoint(torch.exp, x, use_reentrant=False)

        return torch.cond(x.sum() > 0, branch, torch.sin, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, export raises KeyError {error}")
    print("ok: neither eager nor export raises")
