# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD316"
# title = "torch.export(strict=True): IndexError for x.data = y after a branch on a dynamic size of x"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "`.data =` on an input with a dynamic size"
# topics = ["data-attribute", "dynamic-sizes"]
# cause = """
# At the assignment, `_call_setattr` removes x from `tracked_fakes`, the inputs for which guards are made. The
# guard on the old size of x then has no source: `symbol_to_source[symbol]` is empty. `_call_setattr` should
# keep x there with the sizes that it had as an input."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "IndexError",
#         "guards.py:_get_code_parts",
#         "symbolic_shapes.py:produce_guards_verbose",
#         "symbolic_shapes.py:issue_guard",
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
# "2.15.0" = "fixed"
# ///
"""The model branches on a dynamic size of x, then assigns `x.data = y`. Strict export raises IndexError.

At the assignment, `_call_setattr` removes x from `tracked_fakes`, the inputs for which guards are made. The
guard on the old size of x then has no source: `symbol_to_source[symbol]` is empty. `_call_setattr` should
keep x there with the sizes that it had as an input.
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
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
