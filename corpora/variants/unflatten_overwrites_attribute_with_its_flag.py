# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten reads its own flag for a tensor attribute named check_input_constraints"
# variant-of = "module_fails_on_buffer_named_graph"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_keeps_flags_under_private_names"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: check_input_constraints, adapted"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An attribute of 5 is added to the input; after unflatten True is added instead, which is 1.

UnflattenedModule has a flag of that name, and sets it after it has taken over the attributes of the model.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.check_input_constraints = torch.tensor(5.0)

    def forward(self, x):
        return x + self.check_input_constraints


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
