# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD081"
# title = "torch.export: deletes a torch.cond within a branch whose result is unused, with its effects"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "torch.cond in a branch of torch.cond, called for its check or update: silently deleted"
# topics = ["control-flow"]
# cause = """
# eliminate_dead_code goes into the branches without the predicate of export, and Node.is_impure takes a
# higher order operator for pure, whatever its subgraphs do."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# undetected-because = "example inputs and their variations are no tensors that fail a check of values"
# fix = "dead_code_within_regions_is_asked_for_effects"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/fx/graph.py, Graph.eliminate_dead_code: has_side_effect does not look into subgraphs"
# ///
"""The inner torch.cond checks its input; its result is unused, and export deletes it.

Outside of a branch it stays: there export says itself what is dead. eliminate_dead_code does not hand this
predicate on to the subgraphs.
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
