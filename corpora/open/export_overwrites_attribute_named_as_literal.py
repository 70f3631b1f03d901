# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD303"
# title = "strict export: a tensor made in forward replaces a buffer called lifted_tensor_0"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a buffer with a name that export makes up for tensors in forward"
# topics = ["names", "constants"]
# cause = """
# `lift_constants_pass` makes a constant of a tensor that forward creates, and calls it `lifted_tensor_0` if
# this name is free. In strict mode, the state still has the names that Dynamo gave it, so that the name seems
# free. Later the buffer gets its own name again, and the constant replaces it. `_remap_constants` should give
# the constant another name."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "literals_get_names_of_their_own"
# upstream = ""
# at-fault = "torch/export/_trace.py, _remap_constants: does not rename literals that have the name of state"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has a buffer `lifted_tensor_0` with the value 5. The program uses `torch.tensor(1.0)` of forward
in its place.

`lift_constants_pass` makes a constant of a tensor that forward creates, and calls it `lifted_tensor_0` if
this name is free. In strict mode, the state still has the names that Dynamo gave it, so that the name seems
free. Later the buffer gets its own name again, and the constant replaces it. `_remap_constants` should give
the constant another name.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("lifted_tensor_0", torch.tensor(5.0))

    def forward(self, x):
        return x * self.lifted_tensor_0 + torch.tensor(1.0)  # first difference


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
