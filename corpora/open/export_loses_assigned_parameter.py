# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD135"
# title = "torch.export: an assignment to a parameter in forward is lost, without a warning"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "weights that forward clips or replaces; the program goes on with those from before"
# topics = ["attributes"]
# cause = """
# Export restores what forward assigns, and warns only of plain attributes. It should refuse the assignment of
# a parameter, as strict export does."""
# path = "nonstrict:module@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "parameter"]]
# fix = "export_refuses_assigned_parameters"
# upstream = "https://github.com/pytorch/pytorch/pull/163809"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = """
# torch/_functorch/_aot_autograd/frontend_utils.py, _detect_attribute_assignment: no parameters"""
# workaround = "none: clamp the parameter in place under no_grad, where it keeps its gradient"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward replaces its weight by a clipped one, as a max-norm constraint does. The program never does.

Export restores what forward assigns, and warns only of plain attributes. It should refuse the assignment of a
parameter, as strict export does.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        y = x * self.weight
        self.weight = nn.Parameter(self.weight.detach().clamp(max=1.0))  # first difference
        return y


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    program = torch.export.export(model, args).module()
    model(*args)
    program(*args)
    return model.weight.tolist(), program.weight.tolist()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition("\n")[0])
        raise SystemExit(0) from None
    bug = expected != got
    print(
        f"{'BUG' if bug else 'ok'}: after a call, eager's weight is {expected}, the exported program's {got}"
    )
    raise SystemExit(bug)
