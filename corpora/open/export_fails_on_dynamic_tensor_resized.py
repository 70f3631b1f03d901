# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD099"
# title = "torch.export: internal error for resize_ to fixed sizes of a tensor with dynamic sizes"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "resize_ to fixed sizes in a model with dynamic ones"
# topics = ["dynamic-sizes", "in-place"]
# cause = """
# If all new sizes are numbers, `generic_set_sizes_contiguous` takes the tensor for an ordinary one and calls
# `set_sizes_contiguous`, which refuses tensors with symbolic sizes. It should ask the tensor."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "tried to directly modify sizes for customized tensor"],
# ]
# trigger = ["inplace.resize_"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "c10/core/TensorImpl.cpp, generic_set_sizes_contiguous: numbers go to set_sizes_contiguous"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""`resize_(4)` of a tensor with a dynamic size raises "tried to directly modify sizes for customized tensor".

If all new sizes are numbers, `generic_set_sizes_contiguous` takes the tensor for an ordinary one and calls
`set_sizes_contiguous`, which refuses tensors with symbolic sizes. It should ask the tensor.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return (x + 1).resize_(4).shape[0]


def make():
    return Model(), (torch.zeros(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "tried to directly modify sizes for customized tensor" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
