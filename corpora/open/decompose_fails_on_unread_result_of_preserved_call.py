# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD048"
# title = "run_decompositions: SpecViolationError for a preserved submodule if one of its results is unused"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a preserved submodule whose result is unused"
# topics = ["unused-results"]
# cause = """
# Export names the result in the signature of the submodule. run_decompositions removes the operator, as
# nothing uses it, but `_get_updated_module_call_graph` keeps its name in the signature."""
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SpecViolationError"]]
# fix = "decomposed_calls_lose_dead_results"
# upstream = ""
# at-fault = "torch/export/exported_program.py, _get_updated_module_call_graph: names that are gone"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The second result of a preserved submodule is unused. The verifier says "Output tanh does not exist in the
graph".

Export names the result in the signature of the submodule. run_decompositions removes the operator, as nothing
uses it, but `_get_updated_module_call_graph` keeps its name in the signature.
"""

import sys

import torch
from torch._export.verifier import SpecViolationError


class Child(torch.nn.Module):
    def forward(self, x):
        return x + 1, x.tanh()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)[0]


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), program.run_decompositions().module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except SpecViolationError as error:
        sys.exit(f"BUG: eager raises nothing, the decomposed program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the decomposed program {got}")
