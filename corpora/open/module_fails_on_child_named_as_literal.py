# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD391"
# title = "ep.module(), unflatten: TypeError if forward creates a tensor and a child is lifted_tensor_0"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a child with a name that export makes up for tensors in forward"
# topics = ["names", "constants"]
# cause = """
# `lift_constants_pass` makes a constant of a tensor that forward creates, and calls it `lifted_tensor_0` if
# no state has this name. It does not look at the names of submodules. `module()` and unflatten then assign
# the tensor to an attribute that has a submodule already. The pass should choose a name that no submodule
# has."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "TypeError",
#         "_unlift.py:_unlift_exported_program_lifted_states",
#         "_unlift.py:_register_attrs_to_new_gm",
#         "unflatten.py:_assign_attr",
#     ],
# ]
# fix = "literals_avoid_names_of_modules"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_export/passes/lift_constants_pass.py, used_target_names lacks submodules"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child of the model is called lifted_tensor_0, and forward adds `torch.tensor(1.0)`. Export works, but
`ep.module()` raises TypeError: "cannot assign 'torch.FloatTensor' as child module".

`lift_constants_pass` makes a constant of a tensor that forward creates, and calls it `lifted_tensor_0` if no
state has this name. It does not look at the names of submodules. `module()` and unflatten then assign the
tensor to an attribute that has a submodule already. The pass should choose a name that no submodule has.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lifted_tensor_0 = torch.nn.Linear(1, 1)

    def forward(self, x):
        return self.lifted_tensor_0(x) + torch.tensor(1.0)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args).module()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, module() raises {error!r:.100}")
    print("ok: neither eager nor module() raises")
