# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD229"
# former-ids = ["XD237", "XD241", "XD252", "XD265", "XD323", "XD324"]
# title = "unflatten: wrong result and overwritten input if a preserved submodule writes to another's result"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "preserved submodules that write in place, below a block that is not"
# topics = ["in-place", "buffers", "dynamic-sizes", "custom-operators", "no-grad", "shared-modules"]
# cause = """
# The signatures of Tanh and `Triple` are preserved, that of `Block` is not. `Triple` returns nothing, so that
# the tripled y is a result of no call. `_ModuleFrame.remap_input` makes it an argument of `Block`, although
# `Block` computes it itself, and the caller passes x. Nor does it find other values that a preserved
# submodule reads and does not get as an argument: a later value of a buffer, a result of a region or of a
# custom operator, a dynamic size. It takes the first operand of their node."""
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = "https://github.com/pytorch/pytorch/pull/138669"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.remap_input: module_call_graph.get(self.fqn) is None"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A block passes the result of Tanh to `Triple`, which multiplies it by 3 in place, and returns it.
Unflattened, it returns its input x instead, and x is overwritten.

The signatures of Tanh and `Triple` are preserved, that of `Block` is not. `Triple` returns nothing, so that
the tripled y is a result of no call. `_ModuleFrame.remap_input` makes it an argument of `Block`, although
`Block` computes it itself, and the caller passes x.
"""

import sys

import torch


class Triple(torch.nn.Module):
    def forward(self, x):
        x.mul_(3)


class Block(torch.nn.Sequential):
    def forward(self, x):
        y = self[0](x)
        self[1](y)
        return y + 0  # first difference


def make():
    return torch.nn.Sequential(Block(torch.nn.Tanh(), Triple())), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0.0", "0.1"))
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Return a new tensor from the submodule."""

    class Multiplying(Triple):
        def forward(self, x):
            return x * 3

    class Passing(Block):
        def forward(self, x):
            return self[1](self[0](x)) + 0

    return torch.nn.Sequential(Passing(torch.nn.Tanh(), Multiplying())), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
