# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD167"
# title = "torch.export: after a failed export with Dim.AUTO the same inputs stay dynamic"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a second try after an export with Dim.AUTO failed: sizes stay dynamic"
# topics = ["dynamic-sizes", "exceptions"]
# cause = """
# `_process_dynamic_shapes` marks the example inputs themselves. `make_constraints` clears the marks at the
# end of an export, and is not reached if the export raises."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "global", "sizes marked on the example inputs"]]
# fix = "failed_export_clears_dynamic_marks"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/dynamic_shapes.py, _process_dynamic_shapes: marks that only a success clears"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An export with Dim.AUTO fails. The next export with the same inputs has a dynamic size, though none was
asked for.

`_process_dynamic_shapes` marks the example inputs themselves. `make_constraints` clears the marks at the end
of an export, and is not reached if the export raises.
"""

import contextlib
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    with contextlib.suppress(RuntimeError):  # refused: which branch depends on the data
        torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    (x,) = torch.export.export(torch.nn.Identity(), args).graph.find_nodes(op="placeholder")
    return "2", str(x.meta["val"].shape[0])


def workaround_options():
    """Name the dimension: only Dim.AUTO and Dim.DYNAMIC mark the example inputs."""
    return {"dynamic_shapes": {"x": {0: torch.export.Dim("n")}}}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: exported without dynamic shapes, x has size {got}, not {expected}")
    raise SystemExit(bug)
