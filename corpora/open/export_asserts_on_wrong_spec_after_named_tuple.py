# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD076"
# title = "torch.export: a mistake in dynamic_shapes after a named tuple raises AssertionError"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a mistake in dynamic_shapes, in a model that takes a named tuple: not said where"
# topics = ["dynamic-sizes", "containers"]
# cause = """
# To say where inputs and dynamic_shapes differ, _key makes keys of containers, and knows dict, list and tuple
# only."""
# path = "nonstrict+dynamic:module@cpu"
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
# at-fault = "torch/export/dynamic_shapes.py, _tree_map_with_path: _key knows no named tuple"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The spec of `size` is a list, as ShapesCollection makes it, where export wants a tuple."""

import sys
from typing import NamedTuple

import torch


class Pair(NamedTuple):
    left: torch.Tensor
    right: torch.Tensor


class Model(torch.nn.Module):
    def forward(self, pair, size):
        return pair.left + pair.right


def make():
    return Model(), (Pair(torch.ones(2), torch.ones(2)), torch.Size([1]))


def dynamic_shapes():
    shapes = torch.export.ShapesCollection()
    model, args = make()
    shapes[args[0].left] = shapes[args[0].right] = {0: torch.export.Dim.AUTO}
    return shapes.dynamic_shapes(model, args)


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
