# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() reads an argument named inf for infinity"
# variant-of = "copy_renames_argument_named_input"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "fx_restores_builtins_hidden_by_arguments"
# upstream = ""
# at-fault = "torch/fx/graph.py, _gen_python_code: an argument hides a global of the code, inf for one"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A tensor of 2 is clamped to at most infinity; exported, it is clamped to the argument named `inf`, 1.

The code of a graph reads infinity as the global `inf`, and has the argument under its own name: the argument
hides the global. Nodes of the graph are kept clear of such names, arguments are not.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, inf):
        return x.clamp(max=float("inf")) + inf


def make():
    return Model(), (torch.tensor(2.0), 1)


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
