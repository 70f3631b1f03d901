# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD317"
# title = "strict export: the program refuses its own example if forward gives x.data another shape"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "`.data =` on an input, with a tensor of another shape"
# topics = ["data-attribute"]
# cause = """
# Dynamo traces the assignment as `x.set_(...)`, which changes the fake tensor of the input itself. The input
# of the graph is recorded with the new shape. Dynamo refuses `x.set_()` of an input if forward calls it
# ("Getting an inplace view on a graph input is not supported"). It should do so here, or keep the shape of
# the input."""
# path = "strict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "recorded"]]
# fix = "data_of_input_keeps_shape"
# upstream = ""
# at-fault = "torch/_dynamo/variables/builtin.py, _call_setattr: .data becomes set_ on an input"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Forward assigns a tensor of shape (1,) to `x.data`. The program then refuses inputs of shape (2,), as in
its example.

Dynamo traces the assignment as `x.set_(...)`, which changes the fake tensor of the input itself. The input of
the graph is recorded with the new shape. Dynamo refuses `x.set_()` of an input if forward calls it ("Getting
an inplace view on a graph input is not supported"). It should do so here, or keep the shape of the input.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("other", torch.zeros(1))

    def forward(self, x):
        x.data = self.other
        return x + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=True).module()
    x = torch.ones(2)
    return model(x.clone()), program(x)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AssertionError, torch._dynamo.exc.Unsupported) as error:
        bug = "Guard failed" in str(error)
        print(f"{'BUG' if bug else 'ok'}: the input of shape (2,): {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: the input of shape (2,) is accepted")
