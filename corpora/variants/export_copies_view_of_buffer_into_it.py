# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "assigning to a buffer a view of itself makes a program that raises"
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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# upstream = ""
# at-fault = "torch/export/_trace.py, _make_fx_helper: aten.copy_ for every assigned buffer"
# ///
"""`self.state = self.state.t()` exports without a word; the program raises whenever it is called.

Export ends the graph with `copy_(state, t)`, which writes into the very memory that it reads: copy_ refuses
that. The node is added to the finished graph, so that nothing has ever run it. The assigned value would have
to be cloned first.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    program = torch.export.export(model, args).module()
    try:
        seen, bug = program(*args), False
    except RuntimeError as error:
        seen, bug = error, True
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(*args)}, the exported program: {seen}")
    raise SystemExit(bug)
