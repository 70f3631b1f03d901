# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() takes the argument named input for the one named input_1"
# variant-of = "copy_renames_argument_named_input"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "fx_names_arguments_before_renamed_ones"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/graph.py, Graph.python_code: names arguments in turn, heedless of later ones"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected, seen = model(*args), torch.export.export(model, args).module()(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {seen} from the exported program")
    raise SystemExit(bug)
