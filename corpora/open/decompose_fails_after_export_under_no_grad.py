# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD328"
# title = "run_decompositions: IndexError if a model with enable_grad was exported under no_grad"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that enables gradients itself, as for forces, exported under no_grad"
# topics = ["no-grad"]
# cause = """
# run_decompositions traces under no_grad. The region of enable_grad turns gradients on inside, so an output
# requires grad, and AOTAutograd traces the backward as well. _produce_aten_artifact takes the tangents,
# which are inputs of the backward, for inputs of the user. The trace should make no backward."""
# path = "nonstrict+under_no_grad+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "IndexError",
#         "_trace.py:_export_to_aten_ir",
#         "_trace.py:_produce_aten_artifact",
#         "_trace.py:set_missing_meta_vals",
#     ],
# ]
# trigger = ["region.enable_grad"]
# upstream = ""
# upstream-searched = "2026-11-26"
# workaround = "none: export the model outside of no_grad; calls may be made under no_grad"
# at-fault = """
# torch/export/_trace.py, _export_to_aten_ir: torch.no_grad() around the trace does not reach into the regions
# of wrap_with_set_grad_enabled"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model enables gradients for a part of its work. Exported under no_grad, it cannot be decomposed.

run_decompositions raises "IndexError: list index out of range". It traces under no_grad. The region of
enable_grad turns gradients on inside, so an output requires grad, and AOTAutograd traces the backward as
well. _produce_aten_artifact takes the tangents, which are inputs of the backward, for inputs of the user.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        with torch.enable_grad():
            return x * self.scale


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    with torch.no_grad():
        program = torch.export.export(model, args)
    program.run_decompositions()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, run_decompositions raises {error!r:.100}")
    print("ok: neither eager nor run_decompositions raises")
