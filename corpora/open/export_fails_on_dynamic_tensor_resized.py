# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: internal error for resize_ to fixed sizes of a tensor with dynamic ones"
# severity = "C"
# severity-because = "resize_ to fixed sizes in a model with dynamic ones"
# cause = """
# generic_set_sizes_contiguous takes new sizes that are all numbers for those of an ordinary tensor, and
# calls set_sizes_contiguous, which refuses tensors with symbolic sizes."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "tried to directly modify sizes for customized tensor"],
# ]
# trigger = ["inplace.resize_"]
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0"]
# unaffected = ["2.14.1"]
# at-fault = "c10/core/TensorImpl.cpp, generic_set_sizes_contiguous: numbers go to set_sizes_contiguous"
# ///
"""`resize_(4)` on a tensor whose size is a symbol: "tried to directly modify sizes for customized tensor".

If all the new sizes are numbers, generic_set_sizes_contiguous takes them for those of an ordinary tensor and
calls set_sizes_contiguous, which refuses any tensor with symbolic sizes. The fault is in C++, out of reach of
a patch of Python.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    error = None
    try:
        torch.export.export(*make(), dynamic_shapes=dynamic_shapes())
    except RuntimeError as raised:
        if "tried to directly modify sizes for customized tensor" not in str(raised):
            raise
        error = raised
    print("BUG:" if error else "ok:", f"eager raises nothing, export raises {error!r}")
    raise SystemExit(error is not None)
