# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD076"
# title = "torch.export: AssertionError for a mistake in dynamic_shapes if an input is a named tuple"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a list for a tuple in dynamic_shapes, after an input that is a named tuple"
# topics = ["dynamic-sizes", "containers"]
# cause = """
# To name the first difference, `_tree_map_with_path` makes a key for each container on the way. Its `_key`
# supports dict, list and tuple only. It should support all containers."""
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
#         "dynamic_shapes.py:_compare",
#         "dynamic_shapes.py:_compare",
#         "dynamic_shapes.py:_key",
#     ],
# ]
# fix = "mismatch_of_dynamic_shapes_has_keys_of_all_containers"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/dynamic_shapes.py, _tree_map_with_path: _key knows no named tuple"
# workaround = "none: compare the containers of dynamic_shapes with those of the inputs yourself"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""dynamic_shapes has a list where the inputs have a tuple. Export should say so, but fails an assertion,
because another input is a named tuple.

To name the first difference, `_tree_map_with_path` makes a key for each container on the way. Its `_key`
supports dict, list and tuple only. It should support all containers.
"""

import sys
from typing import NamedTuple

import torch


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


class Model(torch.nn.Module):
    def forward(self, pair, others):
        return pair.left + pair.right + others[0]


def make():
    return Model(), (Pair(torch.ones(2), torch.ones(2)), (torch.ones(2),))


def dynamic_shapes():
    size = {0: torch.export.Dim.AUTO}
    return (Pair(size, size), [size])


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: export raises {error!r}")
    except torch._dynamo.exc.UserError as error:
        print(f"ok: export says {error!r:.100}")
        raise SystemExit(0) from None
    print("ok: export raises nothing")
