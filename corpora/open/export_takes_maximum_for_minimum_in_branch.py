# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD163"
# title = "torch.export: max() of a size returns the minimum in a branch of torch.cond"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "max(1, x.shape[0]) in a branch of torch.cond or in a body of map: silently the minimum"
# topics = ["control-flow", "dynamic-sizes"]
# cause = """
# Non-strict export replaces the builtins max and min while it traces. Dynamo, which traces the branches, asks
# `self.fn is max` to decide between max and min. `max` is the replaced function then, so that the answer is
# no, and Dynamo computes the minimum. Strict export is right."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "maximum_is_no_minimum_while_export_traces"
# upstream = "https://github.com/pytorch/pytorch/pull/150003"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/variables/builtin.py, _call_min_max_binary: self.fn is max"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In a branch of torch.cond, `max(x.shape[0], 1)` is 2 in eager, and 1 in the exported program.

Non-strict export replaces the builtins max and min while it traces. Dynamo, which traces the branches, asks
`self.fn is max` to decide between max and min. `max` is the replaced function then, so that the answer is no,
and Dynamo computes the minimum. Strict export is right.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, self.scaled, self.negated, (x,))

    def scaled(self, x):
        return x * max(x.shape[0], 1)  # first difference

    def negated(self, x):
        return -x


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=False).module()(*args)


def make_workaround():
    """Call torch.sym_max instead of max on sizes."""

    class Scaling(Model):
        def scaled(self, x):
            return x * torch.sym_max(x.shape[0], 1)

    return Scaling(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
