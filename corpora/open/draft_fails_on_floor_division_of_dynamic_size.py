# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: PendingUnbackedSymbolNotFound for x // y of a dynamic size"
# severity = "B"
# severity-because = "draft_export of a model that divides with //, or calls copysign, of a dynamic size"
# cause = """
# The prim signbit foretells the dtype of its argument in place of bool; draft_export takes its kernel for
# wrong, and makes symbols for its sizes that nothing binds."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "export"
# status = "open"
# signatures = [["outputs", "crash", "export", "PendingUnbackedSymbolNotFound"]]
# fix = "draft_export_finds_sign_bits"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/_prims/__init__.py, signbit: type_promotion DEFAULT in place of ALWAYS_BOOL"
# ///
"""The model divides and rounds down. The size of the batch is dynamic, and draft_export raises."""

import sys

import torch
from torch.fx.experimental.symbolic_shapes import PendingUnbackedSymbolNotFound


class Model(torch.nn.Module):
    def forward(self, x, y):
        return x // y


def make():
    return Model(), (torch.ones(3, 4), torch.ones(4))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("batch")}, "y": None}


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    try:
        torch.export.draft_export(model, args, dynamic_shapes=dynamic_shapes())
    except PendingUnbackedSymbolNotFound as error:
        print(f"BUG: eager raises nothing, draft_export raises {repr(error)[:80]}")
        raise SystemExit(1) from None
    print("ok: draft_export raises nothing")
