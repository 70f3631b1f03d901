# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a buffer named lifted_tensor_0 is read as a tensor literal in strict mode"
# variant-of = "unflatten_runs_region_for_child_of_its_name"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "literals_get_names_of_their_own"
# upstream = ""
# at-fault = "torch/export/_trace.py, _remap_constants, and lift_constants_pass: the free name for a literal"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer of 5 is added to a tensor of 1; strict export adds the tensor to itself, and says nothing.

A tensor that is made in forward becomes a constant named `lifted_tensor_0`, whether or not the model has
state of that name: in strict mode lift_constants_pass sees dynamo's names for state only. Both inputs of the
program then have the target `lifted_tensor_0`, and both are given the literal.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("lifted_tensor_0", torch.tensor(5.0))

    def forward(self, x):
        return x * self.lifted_tensor_0 + torch.tensor(1.0)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {got} from the exported program")
    raise SystemExit(bug)
