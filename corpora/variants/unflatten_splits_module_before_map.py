# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "the body of a map in the root makes unflatten split a module: what is mapped over is another"
# variant-of = "export_drops_no_grad_around_branches"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "IndexError",
#         "map.py:map_dense",
#         "utils.py:_unstack_pytree",
#         "utils.py:<genexpr>",
#     ],
# ]
# fix = "split_module_keeps_get_attr_in_place"
# upstream = ""
# at-fault = "torch/_export/utils.py, sequential_split (torch/fx/passes/split_module.py, split_module)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` is run twice, both times as `x + 1`, and first on its buffer `k`, which has no rows to map over.

split_module moves the get_attr node of the body, as every get_attr node, to the front of its piece, between
two operators of `child`. unflatten makes two modules of what is left of `child`, of which the second replaces
the first and takes for its input what is passed to the first.
"""

import sys

import torch
from torch._higher_order_ops.map import map as map_rows


class Child(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = x * self.k
        return x + 1


class Model(torch.nn.Module):
    def forward(self, x):
        return map_rows(torch.sin, self.child(x))


def make():
    model = Model()
    model.child = Child()
    model.child.register_buffer("k", torch.tensor(3.0))
    return model, (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except IndexError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")
