# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: backward raises if a buffer is read and then assigned"
# variant-of = "export_overwrites_what_a_buffer_was"
# path = "nonstrict:module@cpu"
# check = "gradients"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "gradients",
#         "crash",
#         "backward",
#         "run",
#         "RuntimeError",
#         "one of the variables needed for gradient computation",
#     ],
# ]
# fix = "read_clones_of_assigned_buffers"
# upstream = ""
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ for every assigned buffer"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer scales the output and is assigned a new value. Eager trains; backward of the program raises
"modified by an inplace operation".

In eager, the assignment leaves the old tensor as it is. `_make_fx_helper` ends the graph with a copy_ into
it, but autograd has saved it for backward. The program should use a clone.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = self.weight * self.state
        self.state = self.state + x
        return y


def make():
    model = Model()
    model.weight = torch.nn.Parameter(torch.ones(1))
    model.register_buffer("state", torch.ones(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(*make(), strict=False).module()
    model(*args).backward()
    program(*args).backward()
    return model.weight.grad, program.weight.grad


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager trains, the program raises {error!r:.100}")
    print(f"ok: eager's gradient is {expected}, the program gives {got}")
