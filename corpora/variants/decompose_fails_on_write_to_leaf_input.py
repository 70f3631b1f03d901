# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "run_decompositions: program cannot be called if forward() updates a leaf input under no_grad"
# variant-of = "decompose_gives_running_mean_a_history"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "leaf Variable that requires grad is being used"]]
# fix = "write_back_to_parameters_detached"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _insert_copy_for_mutations: copy_ into an input, outside of no_grad"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model clamps an input under no_grad; the decomposed program does so outside of it.

run_decompositions takes the region away and returns the new value as a USER_INPUT_MUTATION of the signature.
ep.module() copies it into the input under the grad mode of its caller, and autograd refuses to write to a
leaf that requires grad. Before it is decomposed the program can be called.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, weight):
        with torch.no_grad():
            weight.clamp_(max=0.5)
        return x + weight


def make():
    return Model(), (torch.ones(1), torch.ones(1, requires_grad=True))


def show():
    model, args = make()
    module = torch.export.export(model, args).run_decompositions().module()
    return model(*make()[1]), module(*make()[1])


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the decomposed program raises {error}")
    print(f"ok: eager gives {expected}, the decomposed program {got}")
