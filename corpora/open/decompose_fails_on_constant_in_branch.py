# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD045"
# title = "run_decompositions, save: error for a torch.tensor(...) in a branch of torch.cond"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a tensor written out in a branch of torch.cond"
# topics = ["control-flow", "constants"]
# cause = """
# `lift_constants_pass` makes constants in the main graph inputs of the program, but not those in graphs of
# branches. The constant stays an attribute of the graph of the branch. run_decompositions replaces it by a
# FunctionalTensor while it traces the branch with functionalization off. It should be passed to the branch as
# an operand."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "_symbolic_trace.py:forward",
#         "proxy_tensor.py:__torch_function__",
#         "functional_tensor.py:__torch_dispatch__",
#     ],
# ]
# fix = "export_takes_constants_out_of_bodies"
# upstream = "https://github.com/pytorch/pytorch/issues/180354"
# upstream-match = "mechanism"
# at-fault = "torch/_export/passes/lift_constants_pass.py, lift_constants_pass: not in bodies"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A branch of torch.cond adds `torch.tensor(1.0)`. run_decompositions says "Attempting to use
FunctionalTensor on its own".

`lift_constants_pass` makes constants in the main graph inputs of the program, but not those in graphs of
branches. The constant stays an attribute of the graph of the branch. run_decompositions replaces it by a
FunctionalTensor while it traces the branch with functionalization off. It should be passed to the branch as
an operand.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + torch.tensor(1.0), torch.sin, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).run_decompositions().module()(*args)


def make_workaround():
    """Use a number for the constant of the branch."""

    class Adding(Model):
        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda x: x + 1.0, torch.sin, (x,))

    return Adding(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the decomposed program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the decomposed program {got}")
