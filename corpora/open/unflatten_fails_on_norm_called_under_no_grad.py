# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD411"
# title = "unflatten: RuntimeError for a norm with a no_grad block that is called under no_grad"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a submodule with a no_grad block, called in a no_grad block that has another result too"
# topics = ["no-grad", "norms"]
# cause = """
# Export makes a region of the first part of the outer block. The nodes that take its results from a tuple
# have the module stacks of the results: `x - 1` is in `norm`, `x * 2` in the model. So unflatten takes the
# call of `norm` for two, and the second replaces the first. `_replace_with_hop_helper` should give these
# nodes the module stack of the region."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "Expected positional argument for parameter but one was"],
# ]
# fix = "results_of_region_belong_to_its_module"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_export/passes/replace_with_hop_pass_util.py, _replace_with_hop_helper: output_node.meta"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A norm computes its scale under no_grad. A model calls it in a no_grad block that has another result, too.
`ep.module()` is right; the unflattened program calls the norm without an argument, and raises RuntimeError.

Export makes a region of the first part of the outer block. The nodes that take its results from a tuple
have the module stacks of the results: `x - 1` is in `norm`, `x * 2` in the model. So unflatten takes the
call of `norm` for two, and the second replaces the first. `_replace_with_hop_helper` should give these
nodes the module stack of the region.
"""

import sys

import torch
from torch import nn


class Norm(nn.Module):
    def forward(self, x):
        x = x - 1
        with torch.no_grad():
            scale = x.abs().mean()
        return x / scale


class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            doubled = x * 2
            return self.norm(x) + doubled


def make():
    model = Model()
    model.norm = Norm()
    return model, (torch.tensor([2.0, 4.0]),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Detach the scale instead of computing it under no_grad."""

    class Detaching(nn.Module):
        def forward(self, x):
            x = x - 1
            return x / x.abs().mean().detach()

    model = Model()
    model.norm = Detaching()
    return model, (torch.tensor([2.0, 4.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "Expected positional argument for parameter" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {str(error).splitlines()[0]!r}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
