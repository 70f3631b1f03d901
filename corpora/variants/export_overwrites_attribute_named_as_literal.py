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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/_trace.py, _remap_constants, and lift_constants_pass: the free name for a literal"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected, seen = model(*args), torch.export.export(model, args, strict=True).module()(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {seen} from the exported program")
    raise SystemExit(bug)
