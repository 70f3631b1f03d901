# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: an out= operator after no_grad gets a wrong input if torch.cond follows the submodule"
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
#         "RuntimeError",
#         "functions with out arguments don support automatic differentiation",
#     ],
# ]
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
"""`neg` gets `x`, which requires grad, instead of the result of the no_grad block: RuntimeError.

split_module moves the branches of torch.cond, as every get_attr node, to the front of their piece, before
`zeros` and `neg` of `child`. The nodes of `child` are no longer adjacent, so unflatten makes two modules
named `child`. The second replaces the first and runs at both calls, first on `x`.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x = x * 2
        return torch.neg(x, out=torch.zeros(1))


class Model(torch.nn.Module):
    def forward(self, x):
        x = self.child(x)
        return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))


def make():
    model = Model()
    model.child = Child()
    return model, (torch.ones(1, requires_grad=True),)


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
