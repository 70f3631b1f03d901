# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD007"
# title = "torch.compile: RuntimeError for a new size if forward updates x and x[1:].detach() is an input too"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a cache and a detached view of it given to one compiled function, called with two sizes"
# topics = ["views", "dynamic-sizes"]
# cause = """
# A detached view has no `_base`. So `merge_view_inputs` makes a base for both inputs from their storage
# with `set_(storage)`, which reads the size of the storage as an integer. Since the second size, this size
# is symbolic. It should pass the size."""
# path = "compile:aot_eager@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     ["guards", "crash", "served", "run", "BackendCompilerFailed", "Expected to be true but got Could this"],
# ]
# undetected-because = "no off-spec call gives two inputs that share memory another size at once"
# fix = "aliased_inputs_of_dynamic_size_get_a_base"
# upstream = "https://github.com/pytorch/pytorch/issues/194747"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_functorch/_aot_autograd/runtime_wrappers.py, merge_view_inputs: set_ of a storage"
# workaround = "none: pass the tensor once and take its view in the model, which then has other arguments"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The first call works. A call with another size raises "Expected !size_bytes_is_heap_allocated_ to be true".

A detached view has no `_base`. So `merge_view_inputs` makes a base for both inputs from their storage with
`set_(storage)`, which reads the size of the storage as an integer. Since the second size, this size is
symbolic. It should pass the size.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return y * 2


def make():
    x = torch.ones(4, 2)
    return Model(), (x, x[1:].detach())


def show():
    model, args = make()
    model.compile(backend="aot_eager")
    model(*args)
    x = torch.ones(6, 2)
    model(x, x[1:].detach())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.BackendCompilerFailed as error:
        sys.exit(f"BUG: for another size, torch.compile raises {error!r:.100}")
    print("ok: for another size, torch.compile gives what eager gives")
