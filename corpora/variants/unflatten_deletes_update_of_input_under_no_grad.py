# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: deletes an in-place update of an input under torch.no_grad"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# fix = "regions_have_the_effects_of_their_bodies"
# upstream = ""
# at-fault = "torch/fx/node.py, Node.is_impure: higher order operators are pure, whatever their subgraphs do"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model doubles its input in place under no_grad. The unflattened module leaves the input as it is.

Export makes a region of the block, a call whose result is unused here. unflatten removes dead code first.
`Node.is_impure` does not look into the graph of a region, so that the call counts as dead.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x.mul_(2)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, (x,) = make()
    torch.export.unflatten(torch.export.export(model, (x.clone(),)))(x)
    return 2, x.item()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the input is 2.0 after eager, {got} after unflatten")
    raise SystemExit(bug)
