# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: IndexError for x.data = y after a branch on a dynamic size of x"
# variant-of = "export_fails_on_rank_changed_in_place"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "IndexError",
#         "symbolic_shapes.py:produce_guards",
#         "symbolic_shapes.py:produce_guards_verbose",
#         "symbolic_shapes.py:issue_guard",
#     ],
# ]
# fix = "export_guards_inputs_as_they_came"
# upstream = ""
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards_verbose, over the mutated fake input"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""The model branches on a dynamic size of x, then assigns `x.data = y`. Export raises IndexError.

Guards are made after tracing, from the fake inputs as the model has left them. x has another size by then, so
that the size of the branch has no source. `produce_guards_verbose` should use the inputs as they came.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        if x.shape[0] % 2 == 0:
            x.data = y
        return y + 1


def make():
    return Model(), (torch.ones(4), torch.ones(1))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}, "y": None}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
