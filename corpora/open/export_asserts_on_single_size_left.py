# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD293"
# title = "torch.export: AssertionError instead of a suggested fix if a Dim can have one size only"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a branch on an even size, for a Dim from 3 to 5"
# topics = ["dynamic-sizes"]
# cause = """
# For a Dim from 3 to 6, export says "Constraints violated (n)!" and suggests `_n = Dim('_n', max=3)`, `n =
# 2*_n`. Here only 4 is left. `_process_derived_dim_roots` makes a Dim from 2 to 2, and Dim raises "Cannot
# create Dim with inconsistent min=2, max=2". It should suggest the one size."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "symbolic_shapes.py:prettify_results",
#         "symbolic_shapes.py:_process_derived_dim_roots",
#         "dynamic_shapes.py:__init__",
#     ],
# ]
# fix = "suggested_fixes_take_single_sizes"
# upstream = ""
# at-fault = "torch/fx/experimental/symbolic_shapes.py, _process_derived_dim_roots: a Dim of one value"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model needs an even size, and the Dim goes from 3 to 5. Export should suggest n = 4, but an assertion
fails.

For a Dim from 3 to 6, export says "Constraints violated (n)!" and suggests `_n = Dim('_n', max=3)`, `n =
2*_n`. Here only 4 is left. `_process_derived_dim_roots` makes a Dim from 2 to 2, and Dim raises "Cannot
create Dim with inconsistent min=2, max=2". It should suggest the one size.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] % 2 == 0 else x


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n", min=3, max=5)}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AssertionError, torch._dynamo.exc.UserError) as error:
        if isinstance(error, AssertionError) and "inconsistent min" not in str(error):
            raise
        bug = isinstance(error, AssertionError)
        print(f"{'BUG' if bug else 'ok'}: export should say that n is 4, and raises {error!r}")
        raise SystemExit(bug) from None
    print("ok: export should say that n is 4, and raises nothing")
