# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: a write to x.diagonal() raises AssertionError"
# id = "XO016"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a number that is added to the diagonal of a covariance matrix; a diagonal set to zero"
# topics = ["in-place", "views"]
# cause = """
# A write to a diagonal becomes diagonal_scatter. Core ATen keeps this operator, but the conversion decomposes
# it too, with torch._refs, where it is a clone and a write with prims.copy_to. ONNX has no writes, and
# run_decompositions demands a graph without them. create_onnx_friendly_decomposition_table should leave out
# decompositions that write in place."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "AssertionError", "graph_compile.py:aot_stage1_graph_capture",
#     "graph_capture.py:aot_dispatch_base_graph", "functional_utils.py:assert_functional_graph"],
# ]
# trigger = ["inplace.view|inplace.view_on_the_spot|op.view"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# torch/onnx/_internal/exporter/_decomp.py, create_onnx_friendly_decomposition_table: it takes the
# decomposition of diagonal_scatter from torch._decomp.decomposition_table"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""torch.onnx.export raises an AssertionError if the model writes to a diagonal.

The conversion decomposes aten.diagonal_scatter into operators that write in place. Then torch finds a graph
that is not functional.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        covariance = x.T @ x
        covariance.diagonal().add_(1e-3)  # first difference
        return covariance


def make():
    return Model(), (torch.ones(3, 2),)


def show():
    model, args = make()
    return model(*args), torch.onnx.export(torch.export.export(model, args), verbose=False)(*args)[0]


def make_workaround():
    """Add a diagonal matrix."""

    class WithoutWrite(torch.nn.Module):
        def forward(self, x):
            covariance = x.T @ x
            return covariance + 1e-3 * torch.eye(covariance.shape[0])

    return WithoutWrite(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except Exception as error:
        if "expected to have an entirely functional graph" not in str(error):
            raise
        sys.exit("BUG: eager raises nothing, torch.onnx.export raises AssertionError")
    print("ok: neither eager nor torch.onnx.export raises")
