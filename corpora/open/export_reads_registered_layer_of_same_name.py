# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD405"
# title = "torch.export: uses the registered layer instead of the one that hides it in __dict__"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a layer put into __dict__ by hand, under the name of a registered one"
# topics = ["names", "constants"]
# cause = """
# Export gives parameters to layers by name, as functional_call does. `NamedMemberAccessor.get_submodule`
# looks up the name with getattr, and gets the plain attribute. It should look among the registered layers
# first, from which the names come."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "state_of_hidden_children_is_swapped_by_name"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/nn/utils/_named_member_accessor.py, NamedMemberAccessor.get_submodule: getattr"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model has a registered layer, and another one of the same name in `__dict__`. forward calls the one in
`__dict__`. The program uses the weight of the registered layer.

Export gives parameters to layers by name, as functional_call does. `NamedMemberAccessor.get_submodule`
looks up the name with getattr, and gets the plain attribute. It should look among the registered layers
first, from which the names come.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1, bias=False)
        self.__dict__["layer"] = nn.Linear(1, 1, bias=False)

    def forward(self, x):
        return self.layer(x)  # first difference


def make():
    model = Model()
    nn.init.ones_(model._modules["layer"].weight)
    nn.init.zeros_(model.layer.weight)
    return model, (torch.ones(1, 1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.item()}, the exported program {got.item()}")
    raise SystemExit(bug)
