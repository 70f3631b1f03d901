# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): KeyError for x.data = y if x and y share a dynamic size"
# variant-of = "strict_fails_on_size_of_data_assigned"
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
"""x and y have the same dynamic size. For `x.data = y`, strict export raises KeyError.

At the assignment, `_call_setattr` removes x from `tracked_fakes`, the inputs for which guards are made. The
guard that both sizes are equal still needs x, and does not find it. `_call_setattr` should keep x there with
the sizes that it had as an input.
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
