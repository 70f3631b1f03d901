# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: removes a torch.cond whose result is unused, although its branches call torch._check"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "missing", "cond"]]
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
"""Both branches of torch.cond check the input with torch._check. For a wrong input, eager and ep.module()
raise RuntimeError. The unflattened module does not raise.

The result of torch.cond is unused. unflatten removes dead code first, and `Node.is_impure` does not look into
the branches. It should ask whether a branch has an impure node.
"""

import sys

import torch


def check(x):
    torch._check((x > 9).sum().item() < 1)
    return x * 2


class Model(torch.nn.Module):
    def forward(self, x):
        torch.cond(x.sum() > 0, check, check, (x,))
        return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    try:
        unflattened(torch.full((2,), 10.0))
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
