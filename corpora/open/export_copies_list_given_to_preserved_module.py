# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD079"
# title = "preserve_module_call_signature: wrong result if the submodule writes to a list that it is given"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a preserved submodule that puts results into a list it is given"
# topics = ["containers"]
# cause = """
# The pre_hook in `_wrap_submodule` flattens the arguments and passes new containers on. It should pass the
# containers of the caller: preserving a signature must not change results."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "preserved_module_gets_its_callers_containers"
# upstream = "https://github.com/pytorch/pytorch/pull/148709"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/wrappers.py, _wrap_submodule: pre_hook"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` changes an item of the list that it is given. With its signature preserved, the caller's list does
not change.

The pre_hook in `_wrap_submodule` flattens the arguments and passes new containers on. It should pass the
containers of the caller: preserving a signature must not change results.
"""

import sys

import torch
from torch import nn


class Child(nn.Module):
    def forward(self, results):
        results[0] = results[0] * 2
        return results[0]


class Model(nn.Module):
    def forward(self, x):
        results = [x]
        return self.child(results) + results[0]  # first difference


def make():
    model = Model()
    model.child = Child()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), ep.module()(*args)


def make_workaround():
    """Return the list from the submodule."""

    class Returning(Child):
        def forward(self, results):
            return [results[0] * 2]

    class Receiving(Model):
        def forward(self, x):
            results = self.child([x])
            return results[0] + results[0]

    model = Receiving()
    model.child = Returning()
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
