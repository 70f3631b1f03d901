# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD260"
# title = "unflatten: the second call of a submodule repeats the branch that its child took in the first call"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a submodule called twice whose child takes another branch in the second call"
# topics = ["shared-modules"]
# cause = """
# The child has two graphs, `0` and `0@1`. The two graphs of its parent `outer` differ only in which of them
# they call, the target of a call_module node. `_check_graph_equivalence` does not compare this target, so
# that unflatten merges the two."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_compares_graphs_by_content"
# upstream = "https://github.com/pytorch/pytorch/pull/137013"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child sums a vector and multiplies a scalar. In the second call it gets a scalar, but unflatten sums
again.

The child has two graphs, `0` and `0@1`. The two graphs of its parent `outer` differ only in which of them
they call, the target of a call_module node. `_check_graph_equivalence` does not compare this target, so that
unflatten merges the two.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x.sum() if x.dim() else x * 10  # first difference


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x))


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
    return model, (torch.ones(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args), unflattened(*args)


def workaround_options():
    """Preserve the signature of the child that takes different branches."""
    return {"preserve_module_call_signature": ("outer.0",)}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
