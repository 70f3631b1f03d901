# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() uses the argument named input instead of the one named input_1"
# variant-of = "copy_renames_argument_named_input"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "fx_names_arguments_before_renamed_ones"
# upstream = ""
# at-fault = "torch/fx/graph.py, Graph.python_code: names arguments in turn, heedless of later ones"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The difference of `input` and `input_1` is -2 in eager; exported, both are `input`, and it is 0.

The code of a graph has no variables named as builtins: it begins with `input_1 = input`, and overwrites the
argument that has this name.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, input, input_1):
        return input - input_1


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
