# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: RuntimeError if a submodule that casts is called with float32, then with int64"
# variant-of = "unflatten_merges_calls_of_other_variants"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "RuntimeError", "Tensor dtype mismatch Expected Got"],
# ]
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
"""The inner submodule casts to int64. Its parent is called with float32, and then with int64. The unflattened
model raises in the second call.

Export records the dtype of the input of each `to`. So the inner submodule gets two graphs, and the two graphs
of its parent differ only in the one that they call. `_check_graph_equivalence` does not compare the targets
of call_module. So unflatten takes the two graphs of the parent for the same, and runs the first in both
calls.
"""

import sys

import torch


class Cast(torch.nn.Module):
    def forward(self, x):
        return x.long()


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x))


def make():
    model = Model()
    model.outer = torch.nn.Sequential(Cast())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "Tensor dtype mismatch" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten gives {got}")
