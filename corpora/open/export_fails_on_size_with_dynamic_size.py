# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD114"
# title = "torch.export: AssertionError for a torch.Size argument if another input has a dynamic size"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a torch.Size among the inputs, next to a dynamic size"
# topics = ["dynamic-sizes", "arguments"]
# cause = """
# In dynamic_shapes, torch demands a tuple for a torch.Size. After tracing, `make_constraints` compares
# dynamic_shapes with the inputs again, and this time does not accept a tuple for a torch.Size."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "non_strict_utils.py:make_constraints",
#         "non_strict_utils.py:_flatten_dynamic_shapes",
#         "dynamic_shapes.py:_tree_map_with_path",
#     ],
# ]
# fix = "constrain_sizes_as_tuples"
# upstream = "https://github.com/pytorch/pytorch/issues/149158"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/dynamic_shapes.py, _tree_map_with_path: a torch.Size is taken apart into a list"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model with a torch.Size argument exports with static sizes. With a dynamic size, export fails an
assertion.

In dynamic_shapes, torch demands a tuple for a torch.Size. After tracing, `make_constraints` compares
dynamic_shapes with the inputs again, and this time does not accept a tuple for a torch.Size.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, size):
        return x / size[0]


def make():
    return Model(), (torch.ones(2), torch.Size([1]))


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}, "size": (None,)}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Pass a tuple."""
    return Model(), (torch.ones(2), (1,))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "when there might be a mismatch" not in str(error):
            raise
        sys.exit(f"BUG: export raises {error!r}, and nothing with static sizes")
    print("ok: export raises nothing, as with static sizes")
