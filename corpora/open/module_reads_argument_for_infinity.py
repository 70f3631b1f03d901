# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD312"
# title = "ep.module(): reads an argument called inf where forward uses float('inf')"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "an argument called inf or nan, and the number of that name"
# topics = ["names"]
# cause = """
# The code of a graph writes infinity as `inf`, a global. The argument has the same name in that code, and
# hides the global. Other nodes are renamed so that this cannot happen. The name of an argument must stay, so
# that the code should import the global again."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "fx_restores_builtins_hidden_by_arguments"
# upstream = ""
# at-fault = "torch/fx/graph.py, _gen_python_code: an argument hides a global of the code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.clamp(max=float("inf"))` leaves x as it is. The exported program clamps x to the argument called `inf`.

The code of a graph writes infinity as `inf`, a global. The argument has the same name in that code, and hides
the global. Other nodes are renamed so that this cannot happen. The name of an argument must stay, so that the
code should import the global again.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, inf):
        return x.clamp(max=float("inf")) + inf  # first difference


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
