# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD246"
# title = "unflatten: KeyError for a submodule with two no_grad blocks that is called under autocast"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a submodule with two no_grad blocks, for statistics, say, called in an autocast block"
# topics = ["no-grad", "autocast", "norms"]
# cause = """
# Export splits the graph at no_grad blocks, and enters autocast again in each part. `split_module` gives
# these nodes the module stack of the autocast block, the root. So the subtraction between the two blocks
# belongs to the root, and unflatten takes `norm` for two calls."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "KeyError",
#      "unflatten.py:unflatten", "unflatten.py:__init__", "unflatten.py:_deduplicate_modules"],
# ]
# fix = "parts_of_autocast_stay_in_their_module"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/passes/split_module.py, split_module: new_node.meta = node.meta.copy()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A norm has two no_grad blocks, and is called under autocast. `ep.module()` is right; unflatten raises
KeyError: 'norm'.

Export splits the graph at no_grad blocks, and enters autocast again in each part. `split_module` gives these
nodes the module stack of the autocast block, the root. So the subtraction between the two blocks belongs to
the root, and unflatten takes `norm` for two calls.
"""

import sys

import torch
from torch import nn


class Norm(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            mean = x.mean()
        x = x - mean
        with torch.no_grad():
            scale = x.abs().mean()
        return x / scale


class Model(nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.norm(x).relu()


def make():
    model = Model()
    model.norm = Norm()
    return model, (torch.tensor([1.0, 2.0]),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Detach the statistics instead of computing them under no_grad."""

    class Detaching(Norm):
        def forward(self, x):
            x = x - x.mean().detach()
            return x / x.abs().mean().detach()

    model = Model()
    model.norm = Detaching()
    return model, (torch.tensor([1.0, 2.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises KeyError: {error}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
