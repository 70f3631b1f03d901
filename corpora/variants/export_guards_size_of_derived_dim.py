# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): refuses size 1, although Dim('n', min=1) raised nothing, if another Dim is n + 1"
# variant-of = "export_guards_sizes_that_it_declares"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [["guards", "crash", "refused"]]
# trigger = ["dynamic.derived"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards: what is no range is no constraint"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`Dim('n', min=1)` allows size 1. Export raises nothing, and the program refuses size 1.

The size of `y[1:]` is n. Export adds a guard that it is at least 2. `produce_guards` compares only guards for
the range of one size with the Dim, and this one is for `n + 1 - 1`. With `x + y` there is no guard, and the
program accepts size 1.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return x + y[1:]


def make():
    return Model(), (torch.ones(2), torch.ones(3))


def dynamic_shapes():
    n = torch.export.Dim("n", min=1)
    return {"x": {0: n}, "y": {0: n + 1}}


def probes():
    return [((torch.ones(1), torch.ones(2)), {})]


def show():
    model, args = make()
    module = torch.export.export(model, args, dynamic_shapes=dynamic_shapes()).module()
    module(torch.ones(1), torch.ones(2))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "Guard failed" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print("ok: neither eager nor the exported program raises")
