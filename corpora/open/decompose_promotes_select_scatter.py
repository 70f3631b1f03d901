# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD055"
# title = "run_decompositions: select_scatter of an integer and a float tensor returns floats"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "select_scatter of two dtypes"
# topics = ["dtypes"]
# cause = """
# The decomposition is `torch.where(mask, row, x)`, whose result has the promoted dtype of both. It should
# cast `row` to the dtype of x."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "dtype"]]
# fix = "decomposed_select_scatter_keeps_dtype"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_refs/__init__.py, select_scatter: where(mask, src, x)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.select_scatter(row, 0, 0)` has the dtype of x in eager. Decomposed, integers become floats.

The decomposition is `torch.where(mask, row, x)`, whose result has the promoted dtype of both. It should cast
`row` to the dtype of x.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, row):
        return x.select_scatter(row, 0, 0)  # first difference


def make():
    return Model(), (torch.ones(2, 2, dtype=torch.int32), torch.full((2,), 0.5))


def show():
    model, args = make()
    ep = torch.export.export(model, args).run_decompositions()
    return model(*args).dtype, ep.module()(*args).dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result is {expected} in eager, {got} once decomposed")
    raise SystemExit(bug)
