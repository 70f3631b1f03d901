# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD091"
# title = "torch.export: a no_grad block around torch.cond is dropped, and results require grad"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "torch.cond and a no_grad block in one model"
# topics = ["no-grad", "control-flow"]
# cause = """
# Export splits the graph where the grad mode changes. `split_module` moves the get_attr nodes of the branches
# to the front of a part. The part then no longer begins with the change of grad mode, and
# `_is_set_grad_enabled_sub_mod` takes it for one without a change. The nodes should stay where they are."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "requires-grad"]]
# fix = "split_module_keeps_get_attr_in_place"
# upstream = "https://github.com/pytorch/pytorch/pull/179519"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/passes/split_module.py, split_module: get_attr nodes of modules come first"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.cond in a no_grad block: eager's result requires no grad, that of the program does.

Export splits the graph where the grad mode changes. `split_module` moves the get_attr nodes of the branches
to the front of a part. The part then no longer begins with the change of grad mode, and
`_is_set_grad_enabled_sub_mod` takes it for one without a change. The nodes should stay where they are.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))  # first difference


def make():
    return Model(), (torch.ones(1, requires_grad=True),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return model(*args).requires_grad, program(*args).requires_grad


def make_workaround():
    """Detach the result instead of computing it under no_grad."""

    class Detaching(Model):
        def forward(self, x):
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)).detach()

    return Detaching(), (torch.ones(1, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result requires grad: {expected} in eager, {got} in the program")
    raise SystemExit(bug)
