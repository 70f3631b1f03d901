# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD233"
# title = "unflatten: RuntimeError when the unflattened module runs, for a model that uses torch.vmap"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that calls torch.vmap, as for ensembles or per-sample work, and is unflattened"
# topics = ["vmap"]
# cause = """
# The graph enters and leaves vmap with two calls whose results are unused. unflatten removes them as dead
# code, because `Node.is_impure` does not know them."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "Either your tensor may have escaped from inside"],
# ]
# fix = "vmap_levels_are_side_effects"
# upstream = "https://github.com/pytorch/pytorch/pull/154650"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, _side_effectful_functions: has the levels of jvp only"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model uses torch.vmap. Unflattened, it raises "your tensor may have escaped from inside a function being
vmapped over". `ep.module()` is right.

The graph enters and leaves vmap with two calls whose results are unused. unflatten removes them as dead code,
because `Node.is_impure` does not know them.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.vmap(lambda row: row * row)(x)


def make():
    return Model(), (torch.ones(2, 1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Write the batched operator without torch.vmap."""

    class Batched(Model):
        def forward(self, x):
            return x * x

    return Batched(), (torch.ones(2, 1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "may have escaped" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the unflattened module raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, unflatten gives {got.tolist()}")
    raise SystemExit(bug)
