# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD235"
# former-ids = ["XD081", "XD217"]
# title = "unflatten: deletes an in-place update under torch.no_grad"
# harm = "silently wrong"
# reach = "everyday"
# reach-because = "an in-place update under no_grad: silently deleted"
# evidence = ["https://github.com/facebookresearch/moco/blob/main/moco/builder.py"]
# topics = ["no-grad", "in-place", "moving-averages"]
# cause = """
# Export makes a region of the block, a call whose result is unused here. unflatten removes dead code first.
# `Node.is_impure` does not look into the graph of a region, so that the call counts as dead."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "regions_have_the_effects_of_their_bodies"
# upstream = "https://github.com/pytorch/pytorch/pull/166609"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/166609"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/pull/167443: users rely on removal despite effects"
# at-fault = "torch/fx/node.py, Node.is_impure: higher order operators are pure, whatever their subgraphs do"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An in-place update in a no_grad block is lost: eager gives [9, 0], unflatten gives [0, 0].

Export makes a region of the block, a call whose result is unused here. unflatten removes dead code first.
`Node.is_impure` does not look into the graph of a region, so that the call counts as dead.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        with torch.no_grad():
            y[0] = 9  # first difference
        return y


def make():
    return Model(), (torch.zeros(2),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


def make_workaround():
    """Write to a detached view of the tensor instead of writing under no_grad."""

    class Detaching(Model):
        def forward(self, x):
            y = x.clone()
            y.detach()[0] = 9
            return y

    return Detaching(), (torch.zeros(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print("BUG:" if bug else "ok:", f"eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
