# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: RuntimeError for self.state = self.cell(x), where state is a buffer"
# variant-of = "export_fails_on_input_assigned_to_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "RuntimeError",
#         "Expected positional argument for parameter but one was",
#     ],
# ]
# fix = "write_back_clones_of_assigned_buffers"
# upstream = ""
# at-fault = "torch/export/_trace.py, _make_fx_helper: `new_node.meta = name_node.meta`"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer is assigned the result of a submodule. The unflattened module raises when it is called.

Export ends the graph with a copy_ into the buffer, with the metadata of the assigned node. So the copy_
counts as a part of `cell`, apart from its other nodes. unflatten makes two modules called `cell`, and the
second, the copy_ alone, replaces the first.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.state = self.cell(x)
        return self.state + 1


def make():
    model = Model()
    model.register_buffer("state", torch.zeros(1))
    model.cell = torch.nn.Tanh()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten gives {got}")
