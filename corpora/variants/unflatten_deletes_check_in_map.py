# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten deletes a map whose body checks its rows, from the exported program too"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "missing", "map_impl"]]
# fix = "regions_have_the_effects_of_their_bodies"
# upstream = ""
# at-fault = "torch/fx/node.py, Node.is_impure: higher order operators are pure, whatever their subgraphs do"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A row that torch._check refuses: eager and `ep.module()` raise, the unflattened module goes on.

The result of the map is unused, and torch._library.utils.is_impure does not look into its body, where an
_assert_scalar is, so that the eliminate_dead_code in _remove_effect_tokens takes it for dead.
"""

import sys

import torch
from torch._higher_order_ops.map import map as map_rows


def check(row):
    torch._check((row > 9).sum().item() < 1)
    return row * 2


class Model(torch.nn.Module):
    def forward(self, x):
        map_rows(check, x)
        return x + 1


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    try:
        unflattened(torch.full((1, 2), 10.0))
        got = "nothing"
    except RuntimeError:
        got = "RuntimeError"
    return "RuntimeError", got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: for a 10, eager raises {expected}, unflatten {got}")
    raise SystemExit(bug)
