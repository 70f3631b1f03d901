# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD247"
# title = "unflatten: RuntimeError for a decomposed program with a preserved batch norm in training"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule with a batch norm in training, decomposed: cannot be called"
# topics = ["norms", "train-eval"]
# cause = """
# Decomposed, the batch norm has three results: its output, and the new mean and variance.
# `_get_updated_module_call_graph` takes the last node that comes from the batch norm, the new variance, for
# its result. It should take the output. unflatten then computes the batch norm again, and copies a tuple
# into x."""
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# stage = "run"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "aten Expected value of type for argument but"]]
# fix = "new_statistics_are_no_results_of_calls"
# upstream = "https://github.com/pytorch/pytorch/pull/138669"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/exported_program.py, _get_updated_module_call_graph: provenance of the last node"
# workaround = "none: a submodule that goes on after the norm can be called, but eval() has no effect on it"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved batch norm in training is decomposed. The unflattened module raises RuntimeError.

Decomposed, the batch norm has three results: its output, and the new mean and variance.
`_get_updated_module_call_graph` takes the last node that comes from the batch norm, the new variance, for its
result. It should take the output. unflatten then computes the batch norm again, and copies a tuple into x.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)

    def forward(self, x):
        return self.norm(x)


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("norm",))
    unflattened = torch.export.unflatten(program.run_decompositions())
    unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Expected a value of type 'Tensor' for argument 'src'" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the unflattened module raises {error!r:.100}")
    print("ok: neither eager nor the unflattened module raises")
