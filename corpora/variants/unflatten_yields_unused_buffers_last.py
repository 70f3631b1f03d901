# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export: buffers() gives unused buffers last"
# variant-of = "unflatten_yields_unused_parameters_last"
# path = "strict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "order", "buffers"]]
# fix = "unflatten_keeps_unused_parameters_in_place"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: restore aliased/unused buffers"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model has `mean` before `scale`. In the unflattened module, `mean`, which nothing reads, comes last.

`UnflattenedModule.__init__` assigns first the buffers that the graph uses, then the others. A moving average
that goes through the buffers of two models with zip then mixes them up. The buffers should have the order of
the state dict.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1))
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        return x * self.scale


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=True))
    return [*dict(model.named_buffers())], [*dict(unflattened.named_buffers())]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the buffers of eager are {expected}, those of unflatten {got}")
    raise SystemExit(bug)
