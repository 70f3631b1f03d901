# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export fails if it has converted the same exported program with a boolean mask before"
# id = "XO031"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "one exported program, converted with two options, of a model with a mask or nonzero"
# topics = ["dynamic-sizes"]
# cause = """
# The pass for type promotion runs each operator on fake tensors. So nonzero, or a mask, makes a new symbol in
# the ShapeEnv of the exported program, and nothing takes it from the list of pending symbols. The next
# tracing, in run_decompositions, finds a symbol that is not its own. The pass should run under
# shape_env.ignore_fresh_unbacked_symbols(). XE008 is the same mistake in executorch."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "PendingUnbackedSymbolNotFound"]]
# trigger = ["op.data"]
# undetected-because = "each path converts a program that it exported itself"
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = """
# torch/onnx/_internal/fx/passes/type_promotion.py, _TypePromotionInterpreter.run_node: it leaves symbols
# pending"""
# workaround = "none: export the model again before each conversion"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The second conversion raises PendingUnbackedSymbolNotFound: "Pending unbacked symbols {u3}".

An exported program is converted twice, for example with two versions of the operators. The first conversion
leaves a symbol in the program that the graph does not contain.
"""

import sys

import torch
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound


class Model(torch.nn.Module):
    def forward(self, x):
        return x[x > 1]


def make():
    return Model(), (torch.arange(4),)


def show():
    model, args = make()
    exported = torch.export.export(model, args)
    torch.onnx.export(exported, verbose=False)
    return model(*args), torch.onnx.export(exported, verbose=False)(*args)[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch.onnx.errors.OnnxExporterError as error:
        if not isinstance(error.__cause__, PendingUnbackedSymbolNotFound):
            raise
        sys.exit(f"BUG: the second torch.onnx.export raises {type(error).__name__}")
    print("ok: neither torch.onnx.export raises")
