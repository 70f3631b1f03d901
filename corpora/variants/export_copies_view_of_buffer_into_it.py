# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the program raises for self.state = self.state.t(), where state is a buffer"
# variant-of = "export_fails_on_input_assigned_to_buffer"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "unsupported operation some elements of the input tensor"],
# ]
# unmasked = [["state", "mismatch", "stride", "buffer"]]
# fix = "write_back_clones_of_assigned_buffers"
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
"""A buffer is assigned its transposed view. Export accepts this, but every call of the program raises.

`_make_fx_helper` ends the graph with `copy_(state, t)`, which reads and writes the same memory. copy_ refuses
this. Export should clone the value first.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.state = self.state.t()
        return x + 1


def make():
    model = Model()
    model.register_buffer("state", torch.ones(2, 2))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    return model(*args), program(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error}")
    print(f"ok: eager gives {expected}, the exported program: {got}")
