# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD410"
# title = "run_decompositions: select_scatter of a view with gaps returns a tensor with other strides"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "select_scatter of a view with gaps, and code that depends on the strides of the result"
# topics = ["layout", "views"]
# cause = """
# The decomposition is `torch.where(mask, row, x)`. Its result has no gaps, but eager's result has the strides
# and the storage offset of x. The operator should be kept for such an x."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "stride"], ["outputs", "mismatch", "offset"]]
# fix = "select_scatter_of_view_is_not_decomposed"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_refs/__init__.py, select_scatter: where(mask, src, x)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.select_scatter(row, 0, 0)` has the strides of x in eager. Decomposed, its memory has no gaps.

The decomposition is `torch.where(mask, row, x)`. Its result has no gaps, but eager's result has the strides
and the storage offset of x. The operator should be kept for such an x.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, row):
        every_second_column = x[:, ::2]
        return every_second_column.select_scatter(row, 0, 0)  # first difference


def make():
    return Model(), (torch.ones(2, 4), torch.zeros(2))


def show():
    model, args = make()
    ep = torch.export.export(model, args).run_decompositions()
    return model(*args).stride(), ep.module()(*args).stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the strides of eager are {expected}, after decomposing {got}")
    raise SystemExit(bug)
