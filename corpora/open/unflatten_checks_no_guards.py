# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD232"
# title = "unflatten: runs the wrong branch for sizes that ep.module() refuses"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "a branch on a dynamic size: unflatten takes the other branch"
# evidence = ["https://docs.pytorch.org/tutorials/intermediate/torch_export_tutorial.html"]
# topics = ["dynamic-sizes"]
# cause = """
# Export finds that the program is valid for even sizes, and `ep.module()` refuses three rows: "Guard failed:
# x.size()[0] % 2 == 0". `UnflattenedModule.process_forward_inputs` checks only the ranges of sizes. It should
# check the guards as well."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# unmasked = [["guards", "crash", "refused"]]
# fix = "unflatten_checks_guards"
# upstream = "https://github.com/pytorch/pytorch/pull/161178"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.process_forward_inputs"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model branches on an even size. Exported with four rows and called with three, unflatten runs the wrong
branch.

Export finds that the program is valid for even sizes, and `ep.module()` refuses three rows: "Guard failed:
x.size()[0] % 2 == 0". `UnflattenedModule.process_forward_inputs` checks only the ranges of sizes. It should
check the guards as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] % 2 == 0 else x - 1  # first difference


def make():
    return Model(), (torch.zeros(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def probes():
    return [((torch.zeros(3),), {})]


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, dynamic_shapes=dynamic_shapes()))
    return model(torch.zeros(3)), unflattened(torch.zeros(3))


def make_workaround():
    """Choose by torch.cond, so that the program has both branches."""

    class Choosing(Model):
        def forward(self, x):
            return torch.cond(x.shape[0] % 2 == 0, lambda x: x + 1, lambda x: x - 1, (x,))

    return Choosing(), (torch.zeros(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: for three rows, eager raises nothing, unflatten gives {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: for three rows, eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
