# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD275"
# title = "unflatten: runs a no_grad block instead of a child called submod_1"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "children called submod_1, as split_module names them: silently replaced"
# topics = ["names", "no-grad"]
# cause = """
# Export calls the graph of the block `submod_1`, in a graph module that has no children. unflatten puts the
# graph into the module for the model, where it replaces the child. Export should choose a name that the model
# does not have."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "subgraphs_get_names_of_their_own"
# upstream = "https://github.com/pytorch/pytorch/issues/164030"
# upstream-match = "mechanism"
# at-fault = "torch/export/exported_program.py, ExportedProgram.__init__: subgraphs keep names of the model"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has a child `submod_1`. Unflattened, a call of this child runs the body of the no_grad block.

Export calls the graph of the block `submod_1`, in a graph module that has no children. unflatten puts the
graph into the module for the model, where it replaces the child. Export should choose a name that the model
does not have.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + 1, x + 2  # first difference


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.submod_1 = Child()

    def forward(self, x):
        with torch.no_grad():
            a, b = x * 3, x * 4
        return a, b, *self.submod_1(x)


def make():
    return Model(), (torch.tensor(5.0),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


def make_workaround():
    """Give the child another name."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.child = Child()

        def forward(self, x):
            with torch.no_grad():
                a, b = x * 3, x * 4
            return a, b, *self.child(x)

    return Renamed(), (torch.tensor(5.0),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
