# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten merges two calls with inputs of other dtypes, and the second fails an assertion"
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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/unflatten.py, _check_graph_equivalence"
# ///
"""A module that casts is called with float32, then with int64: eager casts, unflatten raises.

Export puts an assertion of the input's dtype before each `to`, so that the module gets two graphs. Those of
`outer` differ in nothing but which of the two they call, which _check_graph_equivalence does not compare. Not
even a branch is needed.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    try:
        seen = torch.export.unflatten(torch.export.export(model, args))(*args)
    except RuntimeError as error:
        if "Tensor dtype mismatch" not in str(error):
            raise
        seen = str(error).splitlines()[0]
    bug = isinstance(seen, str)
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(*args)}, unflatten gives {seen}")
    raise SystemExit(bug)
