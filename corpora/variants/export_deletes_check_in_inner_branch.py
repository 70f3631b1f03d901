# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: deletes an inner torch.cond with a torch._check, if its result is unused"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# undetected-because = "example inputs and their variations are no tensors that fail a check of values"
# fix = "regions_have_the_effects_of_their_bodies"
# upstream = "https://github.com/pytorch/pytorch/pull/166609"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/166609"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/pull/167443: users rely on removal despite effects"
# at-fault = "torch/fx/node.py, Node.is_impure: higher order operators are pure, whatever their subgraphs do"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A torch.cond in a branch of another one checks its input with torch._check. The program does not check it.

The result of the inner torch.cond is unused. `Node.is_impure` does not look into its branches, so that dead
code elimination removes it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        def check(x):
            torch._check((x > 9).sum().item() < 1)  # first difference
            return x * 2

        def large(x):
            torch.cond(x.sum() > 1, check, check, (x,))
            return x.sin()

        return torch.cond(x.sum() > 0, large, torch.cos, (x,))


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    try:
        program(torch.full((2,), 10.0))
        got = "nothing"
    except RuntimeError:
        got = "RuntimeError"
    return "RuntimeError", got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: for a 10, eager raises {expected}, the program {got}")
    raise SystemExit(bug)
