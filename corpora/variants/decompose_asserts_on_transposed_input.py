# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: AssertionError if an input is transposed in place"
# variant-of = "decompose_asserts_on_mutated_alias"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "AssertionError", "_trace.py:_aot_export_joint_with_descriptors",
#         "input_output_analysis.py:create_graph_signature", "schemas.py:from_tracing_metadata",
#     ],
# ]
# fix = "decompose_refuses_metadata_mutation"
# upstream = ""
# at-fault = "torch/_functorch/_aot_autograd/graph_compile.py, aot_stage2_export: no ban outside is_export"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model transposes its input in place. It exports, but run_decompositions fails an internal assertion.

AOTAutograd refuses this in plain words ("Found an input that received a metadata mutation ..."), but only if
`is_export` is set, and `aot_export_joint_with_descriptors` does not set it.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.t_() + 1


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    torch.export.export(model, args).run_decompositions()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: run_decompositions raises {error!r:.100}")
    except RuntimeError as error:
        print(f"ok: run_decompositions refuses the model: {error}")
    else:
        print("ok: run_decompositions raises nothing")
