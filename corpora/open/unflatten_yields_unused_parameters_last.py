# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD282"
# title = "unflatten of a strict export: parameters() gives unused parameters last"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a parameter that forward does not read, then an optimizer's state loaded for the result"
# topics = ["names", "unused-results"]
# cause = """
# `UnflattenedModule.__init__` assigns first the parameters that the graph uses, then the others.
# Optimizers store their state by the position of parameters. If the optimizer state of eager is loaded for
# the unflattened module, the momentum of bias goes to weight. The parameters should have the order of the
# state dict."""
# path = "strict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "order", "parameters"]]
# fix = "unflatten_keeps_unused_parameters_in_place"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: restore aliased/unused params"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has `weight` before `bias`. In the unflattened module, `weight`, which nothing reads, comes last.

`UnflattenedModule.__init__` assigns first the parameters that the graph uses, then the others. Optimizers
store their state by the position of parameters. If the optimizer state of eager is loaded for the unflattened
module, the momentum of bias goes to weight. The parameters should have the order of the state dict.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.bias = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return x + self.bias


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return [*dict(model.named_parameters())], [*dict(unflattened.named_parameters())]


def workaround_options():
    """Export without strict, which is the default."""
    return {"strict": False}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the parameters of eager are {expected}, those of unflatten {got}")
    raise SystemExit(bug)
