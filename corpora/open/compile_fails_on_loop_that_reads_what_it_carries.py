# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD012"
# title = "torch.compile: while_loop fails if its body also reads the tensor that it starts from"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a while_loop whose body reads the tensor that it starts from"
# topics = ["control-flow"]
# cause = """
# Dynamo passes what the body reads as one more input of the loop, so that the loop has `x` twice. A check
# that `cond_fn` and `body_fn` return no input also fails if two inputs are one tensor. It should allow this:
# neither function makes an alias."""
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
#         "while_loop.py:__call__",
#         "while_loop.py:while_loop_func",
#         "utils.py:_check_alias_and_mutation",
#     ],
# ]
# fix = "while_loop_takes_inputs_of_one_memory"
# upstream = "https://github.com/pytorch/pytorch/issues/191582"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/191686"
# at-fault = "torch/_higher_order_ops/while_loop.py, while_loop_func: _check_alias_and_mutation"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The loop starts from `x`, and its body reads `x`: "cond_fn might be aliasing the input or the output!".

Dynamo passes what the body reads as one more input of the loop, so that the loop has `x` twice. A check that
`cond_fn` and `body_fn` return no input also fails if two inputs are one tensor. It should allow this: neither
function makes an alias.
"""

import sys

import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch._higher_order_ops.while_loop import while_loop


class Model(torch.nn.Module):
    def forward(self, x):
        return while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + x), (torch.tensor(0), x))[1]


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.compile(model, backend="aot_eager")(*args)


def make_workaround():
    """Carry a copy of the tensor that the body reads."""

    class Copying(Model):
        def forward(self, x):
            carried = (torch.tensor(0), x.clone())
            return while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + x), carried)[1]

    return Copying(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except BackendCompilerFailed as error:
        sys.exit(f"BUG: eager raises nothing, compiled raises {error!r:.100}")
    print(f"ok: eager gives {expected}, compiled: {got}")
