# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "a view of a buffer that is read after the model has updated the buffer"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "seed"
# ///
"""The model updates its buffer in place, and then reads a view of it that it made before: the new value.

In the graph, the copy into the buffer stands between the view and what reads it. Whatever moves the copies
that unflatten itself inserts, because their graph reads old values, must leave this one where it is.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(2))

    def forward(self, x):
        view = self.state.view(2, 1)
        self.state.copy_(x)
        return view + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
