# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "an input of a shared dynamic size that becomes a scalar by .data fails in guard production"
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
#         "symbolic_shapes.py:get_expression",
#     ],
# ]
# fix = "export_guards_inputs_as_they_came"
# upstream = ""
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards_verbose, over the mutated fake input"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x` and `y` have one size, a dynamic one; the model makes a scalar of `x`, whose size is then asked for.

That the two sizes are equal is checked after tracing, and get_expression reads them from the fake inputs as
the model left them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y, z):
        x.data = z
        return y + 1


def make():
    return Model(), (torch.ones(2), torch.ones(2), torch.tensor(1.0))


def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "y": {0: n}, "z": None}


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
