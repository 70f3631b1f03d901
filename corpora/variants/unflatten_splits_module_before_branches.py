# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.cond after a submodule that ends a no_grad region: unflatten splits the module"
# variant-of = "export_drops_no_grad_around_branches"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "aten Expected value of type for argument but"]]
# fix = "split_module_keeps_get_attr_in_place"
# upstream = ""
# at-fault = "torch/_export/utils.py, sequential_split (torch/fx/passes/split_module.py, split_module)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The branches of torch.cond, in the root, end up between two operators of `child`, and split it in two.

split_module moves every get_attr node to the front of its piece. The nodes of `child` are no longer adjacent,
so unflatten makes two modules named `child`. The second replaces the first. It expects a tensor; the first
call passes the result of the no_grad block, a tuple.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        with torch.enable_grad():
            x = x * 2
        return x * 3


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = self.child(x)
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def make():
    model = Model()
    model.child = Child()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")
