# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: the program cannot be called if forward updates a parameter under no_grad"
# variant-of = "decompose_gives_running_mean_a_history"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "leaf Variable that requires grad is being used"]]
# fix = "write_back_to_parameters_detached"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _insert_copy_for_mutations: copy_ into a parameter, outside of no_grad"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model adds 1 to a parameter under no_grad. The decomposed program raises when it is called.

run_decompositions removes the no_grad block and returns the new value as a PARAMETER_MUTATION. `ep.module()`
copies it into the parameter in the grad mode of the caller, and autograd refuses to write to a leaf that
requires grad. The copy should be made under no_grad.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        with torch.no_grad():
            self.w.add_(1)
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    module = torch.export.export(model, args).run_decompositions().module()
    return model(*args), module(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the decomposed program raises {error}")
    print(f"ok: eager gives {expected}, the decomposed program {got}")
