# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: IndexError in guard production if an input is unsqueezed in place"
# severity = "B"
# severity-because = "unsqueeze_ on an input"
# cause = """
# fakify notes the fake inputs themselves for guard production, which runs after the model has changed
# their sizes."""
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
#         "non_strict_utils.py:produce_guards_and_solve_constraints",
#         "symbolic_shapes.py:produce_guards",
#         "symbolic_shapes.py:produce_guards_verbose",
#     ],
# ]
# fix = "export_guards_inputs_as_they_came"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards_verbose, over the mutated fake input"
# ///
"""`unsqueeze_` on an input: guards are produced for a tensor that no caller ever has.

The fake input is changed in place by the model, and guards are written afterwards, for its new rank,
against constraints that were noted for its old one. The hazard of issue 93610, in non-strict export.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.unsqueeze_(0)
        return x + 1


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    error = None
    try:
        torch.export.export(*make())
    except IndexError as raised:
        error = raised
    print("BUG:" if error else "ok:", f"eager raises nothing, export raises {error!r}")
    raise SystemExit(error is not None)
