# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD325"
# title = "unflatten: a tensor attribute called check_input_constraints is replaced by True"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "an attribute called check_input_constraints or adapted"
# topics = ["names", "constants"]
# cause = """
# UnflattenedModule has a flag `check_input_constraints`, and sets it after it has taken over the attributes
# of the model. The flag should have a private name."""
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
"""The model adds an attribute with the value 5. After unflatten it adds True, which is 1.

UnflattenedModule has a flag `check_input_constraints`, and sets it after it has taken over the attributes of
the model. The flag should have a private name.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.check_input_constraints = torch.tensor(5.0)

    def forward(self, x):
        return x + self.check_input_constraints  # first difference


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
