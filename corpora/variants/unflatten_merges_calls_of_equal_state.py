# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: merges x * w and x / w while w is 1, which is wrong once w changes"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "edit", "value"]]
# fix = "unflatten_compares_graphs_by_content"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A child multiplies by w in one call and divides by w in the other. The unflattened model multiplies in
both.

While w is 1, nothing shows; with other weights, results are wrong. The two graphs of the parent differ only
in which graph of the child they call. `_check_graph_equivalence` does not compare this.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        return x * self.w if x.dim() else x / self.w


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(x), self.outer(x.sum())


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
    model.outer[0].register_buffer("w", torch.tensor(1.0))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(make()[0], args))
    for module in (model, unflattened):
        module.outer.get_submodule("0").w.fill_(2)
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: with w = 2 eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
