# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD122"
# title = "ep.module(): refuses sizes that range_constraints allows, although Dim.DYNAMIC raised nothing"
# harm = "clear error"
# reach = "occasional"
# reach-because = "Dim.DYNAMIC and a branch on whether a size is even: the first odd batch fails"
# topics = ["dynamic-sizes"]
# cause = """
# Export turns the branch on `size % 2 == 0` into a guard. The documentation says that Dim.DYNAMIC raises if a
# size is specialized. `produce_guards` checks this only for guards that are a range. Neither export nor
# `range_constraints` shows the restriction."""
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [["guards", "crash", "refused"]]
# trigger = ["dynamic.branch"]
# upstream = "https://github.com/pytorch/pytorch/issues/181097"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/issues/146315: Dim.DYNAMIC leaves constraints to export"
# at-fault = "torch/fx/experimental/symbolic_shapes.py, produce_guards: what is no range is no constraint"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""With Dim.DYNAMIC, export succeeds and the program declares all sizes from 2. It refuses every odd size.

Export turns the branch on `size % 2 == 0` into a guard. The documentation says that Dim.DYNAMIC raises if a
size is specialized. `produce_guards` checks this only for guards that are a range. Neither export nor
`range_constraints` shows the restriction.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] % 2 == 0:
            return x + 1
        return x - 1


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def probes():
    return [((torch.ones(5),), {})]


def show():
    model, args = make()
    module = torch.export.export(model, args, dynamic_shapes=dynamic_shapes()).module()
    module(torch.ones(5))


def make_workaround():
    """Compute with the size instead of branching on it."""

    class Computing(Model):
        def forward(self, x):
            return x + (1 - x.shape[0] % 2 * 2)

    return Computing(), (torch.ones(4),)


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
