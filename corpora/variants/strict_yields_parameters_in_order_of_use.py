# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): parameters() of the program has the order of their first use"
# variant-of = "strict_drops_buffer_that_nothing_reads"
# path = "strict:module@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "order", "parameters"]]
# fix = "strict_keeps_state_that_nothing_reads"
# upstream = "https://github.com/pytorch/pytorch/pull/160600"
# upstream-match = "symptom"
# at-fault = "torch/export/_trace.py, _strict_export: gm_torch_level keeps the order of Dynamo"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has `weight` before `bias`, the exported program `bias` before `weight`.

Optimizers store their state by the position of parameters. Loaded for the exported model, the momentum of one
parameter becomes that of the other. `_strict_export` uses the order in which Dynamo has registered the
parameters. It should use that of the model.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.bias = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        return (x + self.bias) * self.weight


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    exported = torch.export.export(model, args, strict=True).module()
    return [*dict(model.named_parameters())], [*dict(exported.named_parameters())]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the parameters of eager are {expected}, those of ep.module() {got}")
    raise SystemExit(bug)
