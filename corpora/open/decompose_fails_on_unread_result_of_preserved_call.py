# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD048"
# title = "run_decompositions: SpecViolationError for a preserved submodule if one of its results is unused"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved nn.MultiheadAttention whose weights are not used, decomposed"
# topics = ["unused-results"]
# cause = """
# Export names the result in the signature of the submodule. run_decompositions removes the operator, as
# nothing uses it, but `_get_updated_module_call_graph` keeps its name in the signature. It should put a
# constant in its place."""
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SpecViolationError"]]
# fix = "decomposed_calls_lose_dead_results"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/exported_program.py, _get_updated_module_call_graph: names that are gone"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model uses the result of a preserved nn.MultiheadAttention, and not its weights. run_decompositions says
"Output mean does not exist in the graph".

Export names the result in the signature of the submodule. run_decompositions removes the operator, as nothing
uses it, but `_get_updated_module_call_graph` keeps its name in the signature. It should put a constant in its
place.
"""

import sys

import torch
from torch._export.verifier import SpecViolationError


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(4, 2)

    def forward(self, x):
        return self.attention(x, x, x)[0]


def make():
    return Model(), (torch.ones(1, 1, 4),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("attention",))
    return model(*args), program.run_decompositions().module()(*args)


def make_workaround():
    """Ask the submodule for no result that nothing uses."""

    class Asking(Model):
        def forward(self, x):
            return self.attention(x, x, x, need_weights=False)[0]

    return Asking(), (torch.ones(1, 1, 4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except SpecViolationError as error:
        sys.exit(f"BUG: eager raises nothing, the decomposed program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the decomposed program {got}")
