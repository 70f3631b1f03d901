# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a child called meta that forward does not call is left out"
# variant-of = "unflatten_fails_on_child_named_graph"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "modules", "missing"]]
# fix = "unflatten_refuses_names_of_its_modules"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule and InterpreterModule: do not check names"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has a child `meta`, which forward does not call. The unflattened model has no such child.

The module that unflatten makes has an attribute `meta` of its own, a dict. Where unflatten adds the children
that nothing calls, it leaves out those whose names are taken. It should refuse these names in plain words.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.meta = torch.nn.Identity()

    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return [name for name, _ in model.named_children()], [name for name, _ in unflattened.named_children()]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print(f"ok: unflatten refuses the model: {error}")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the children of eager are {expected}, those of unflatten {got}")
    raise SystemExit(bug)
