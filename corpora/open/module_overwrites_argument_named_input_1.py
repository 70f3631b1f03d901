# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD311"
# title = "ep.module(): uses argument input instead of input_1 if the model has both"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "two arguments called input and input_1"
# topics = ["names"]
# cause = """
# The code of a graph has no variables with the name of a Python builtin, so that it begins with `input_1 =
# input`. This overwrites the other argument. `Graph.python_code` should choose a name that no argument
# has."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "fx_names_arguments_before_renamed_ones"
# upstream = ""
# at-fault = "torch/fx/graph.py, Graph.python_code: renames arguments without looking at later ones"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`input - input_1` is -2 in eager. The exported program computes `input - input`, which is 0.

The code of a graph has no variables with the name of a Python builtin, so that it begins with `input_1 =
input`. This overwrites the other argument. `Graph.python_code` should choose a name that no argument has.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, input, input_1):
        return input - input_1  # first difference


def make():
    return Model(), (torch.tensor(1.0), torch.tensor(3.0))


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {got} from the exported program")
    raise SystemExit(bug)
