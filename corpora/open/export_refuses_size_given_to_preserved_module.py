# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD158"
# title = "preserve_module_call_signature: AssertionError if the submodule takes a dynamic size"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "preserve_module_call_signature of a module that takes a size, as in reshape(n, -1)"
# topics = ["dynamic-sizes", "arguments"]
# cause = "A size is a scalar, and a static one is accepted. `check_flattened` has no case for torch.SymInt."
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "_symbolic_trace.py:forward",
#         "wrappers.py:pre_hook",
#         "wrappers.py:check_flattened",
#     ],
# ]
# fix = "preserved_modules_take_sizes"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/wrappers.py, check_flattened: knows no torch.SymInt"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule gets a dynamic size: "Only Tensors or scalars are supported as pytree flattened
inputs".

A size is a scalar, and a static one is accepted. `check_flattened` has no case for torch.SymInt.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x, n):
        return x.reshape(n, -1)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x, x.shape[0])


def make():
    return Model(), (torch.ones(2, 1),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    torch.export.export(
        model, args, dynamic_shapes=dynamic_shapes(), preserve_module_call_signature=("inner",)
    )


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "Only Tensors or scalars" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
