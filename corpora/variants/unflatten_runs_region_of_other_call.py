# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a no_grad region of one call of a module is run for another call too, after unflatten"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "extra", "wrap_with_set_grad_enabled"]]
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
"""The second call only doubles `y`, its region is not read; the unflattened module compares what it gives.

The addition is in a no_grad region. unflatten has the second call return the doubled `y`, in variants
`outer@1` and `0@1` without the region, then takes the two graphs of `outer` for one, since they differ in the
target of a call_module node alone. With 0, the values do not show it.
"""

import sys

import torch


class Inner(torch.nn.Module):
    def forward(self, x):
        x.mul_(2)
        with torch.no_grad():
            return x + 1


class Model(torch.nn.Module):
    def forward(self, x):
        y = self.outer(x)
        self.outer(y)
        return y > 98


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Inner())
    return model, (torch.zeros(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(torch.tensor([24.0])), unflattened(torch.tensor([24.0]))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: for 24, eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
