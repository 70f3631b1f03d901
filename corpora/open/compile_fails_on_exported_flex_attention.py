# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD373"
# title = "torch.compile: 'too many values to unpack' for an exported module with flex_attention"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model with flex_attention, exported and then compiled or exported again"
# topics = ["attention", "graph-modules"]
# cause = """
# In a graph, the operator flex_attention has nine arguments: the last two are the tensors that `score_mod`
# and `mask_mod` read. `FlexAttentionHigherOrderVariable._call_function` takes only the seven that user code
# passes. It should take the other two as well, and pass them on to the two functions."""
# path = "nonstrict+optimized:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "InternalTorchDynamoError", "higher_order_ops.py:wrapped_call_function",
#      "higher_order_ops.py:call_function", "higher_order_ops.py:_call_function"],
# ]
# fix = "compile_takes_what_flex_attention_reads"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/variables/higher_order_ops.py, FlexAttentionHigherOrderVariable._call_function"
# workaround = "none: compile the model itself; export what ep.module() returns with strict=False only"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model calls flex_attention. Its exported module runs. But torch.compile of this module raises
InternalTorchDynamoError, and strict export of it raises ValueError: 'too many values to unpack (expected 7)'.

In a graph, the operator flex_attention has nine arguments: the last two are the tensors that `score_mod` and
`mask_mod` read. `FlexAttentionHigherOrderVariable._call_function` takes only the seven that user code passes.
It should take the other two as well, and pass them on to the two functions.
"""

import sys

import torch
from torch import nn
from torch.nn.attention.flex_attention import flex_attention


class Model(nn.Module):
    def forward(self, x):
        return flex_attention(x, x, x)


def make():
    return Model(), (torch.ones(1, 1, 2, 2),)


def show():
    model, args = make()
    exported = torch.export.export(model, args).module()
    return model(*args), torch.compile(exported, backend="eager")(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except Exception as error:
        if "too many values to unpack" not in str(error):
            raise
        print(f"BUG: eager raises nothing, the compiled module {type(error).__name__}: {str(error)[:70]!r}")
        raise SystemExit(1) from None
    assert torch.equal(expected, got)
    print("ok: the compiled module returns what eager returns")
