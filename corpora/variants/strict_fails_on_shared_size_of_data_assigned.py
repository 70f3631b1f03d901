# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export fails with KeyError where .data is assigned to of an input of a shared size"
# variant-of = "compile_reads_rank_before_data_assigned"
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "KeyError",
#         "guards.py:_get_code_parts",
#         "symbolic_shapes.py:produce_guards_verbose",
#         "symbolic_shapes.py:get_expression",
#     ],
# ]
# fix = "dynamo_keeps_sizes_of_inputs"
# upstream = ""
# at-fault = "torch/_dynamo/variables/builtin.py, _call_setattr: tracked_fakes.remove(tf)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x` and `y` have one size, a dynamic one; the model assigns to the .data of `x`.

When Dynamo comes upon the assignment it drops `x` from the inputs that guards are produced for. That the
sizes are equal is checked all the same, and get_expression looks `x` up.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        x.data = y
        return y + 1


def make():
    return Model(), (torch.ones(2), torch.ones(2))


def dynamic_shapes():
    n = torch.export.Dim("n")
    return {"x": {0: n}, "y": {0: n}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
