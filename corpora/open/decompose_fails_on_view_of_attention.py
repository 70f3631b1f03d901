# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD049"
# title = "run_decompositions: ValueError if a view joins batch and length of an attention's result"
# harm = "obscure error"
# reach = "everyday"
# reach-because = "GPT-2 with a batch: Conv1D views the result of attention as (batch * length, features)"
# evidence = ["zoo:transformers/gpt2", "https://github.com/pytorch/pytorch/issues/136543"]
# topics = ["attention", "layout"]
# cause = """
# The kernel of attention returns the layout of its query, here batch, length, heads. The decomposition
# always returns length, batch, heads, the layout of nn.MultiheadAttention. In this layout batch and length
# are no longer next to each other in memory, and no view can join them. The decomposition should use the
# layout of the query."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "ValueError", "fake_impls.py:_view_meta",
#         "__init__.py:_reshape_view_helper", "__init__.py:_reshape_view_helper_core_alg",
#     ],
# ]
# fix = "decomposed_attention_is_laid_out_as_its_query"
# upstream = "https://github.com/pytorch/pytorch/issues/136543"
# upstream-match = "mechanism"
# at-fault = "torch/_decomp/decompositions.py, scaled_dot_product_flash_attention_for_cpu: strides"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A view joins batch and length of the result of scaled_dot_product_attention. The model exports, but
run_decompositions raises ValueError.

The kernel of attention returns the layout of its query, here batch, length, heads. The decomposition always
returns length, batch, heads, the layout of nn.MultiheadAttention. In this layout batch and length are no
longer next to each other in memory, and no view can join them. The decomposition should use the layout of the
query.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        heads = x.transpose(1, 2)
        x = nn.functional.scaled_dot_product_attention(heads, heads, heads)
        return x.transpose(1, 2).view(6, 8)


def make():
    return Model(), (torch.ones(2, 3, 2, 4),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.run_decompositions()


def make_workaround():
    """Call reshape instead of view on the result of attention."""

    class Reshaping(Model):
        def forward(self, x):
            heads = x.transpose(1, 2)
            x = nn.functional.scaled_dot_product_attention(heads, heads, heads)
            return x.transpose(1, 2).reshape(6, 8)

    return Reshaping(), (torch.ones(2, 3, 2, 4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        sys.exit(f"BUG: run_decompositions raises {error!r:.100}")
    print("ok: run_decompositions raises nothing")
