# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD074"
# title = "torch.export: AssertionError instead of a suggested fix for a guard such as 3 * n < 8 on a Dim"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an arithmetic guard on a named Dim, which export would refuse anyway"
# topics = ["dynamic-sizes"]
# cause = """
# The guard is simplified to n < 8/3. `prettify_results`, which writes the suggested fixes, takes only digits
# for a number (`right.isdigit()`) and expects an equation for everything else. It should allow fractions."""
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
#         "_trace.py:_produce_guards_callback",
#         "non_strict_utils.py:produce_guards_and_solve_constraints",
#         "symbolic_shapes.py:prettify_results",
#     ],
# ]
# fix = "suggested_fixes_take_fractions"
# upstream = ""
# at-fault = "torch/fx/experimental/symbolic_shapes.py, prettify_results: right.isdigit()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model branches on `3 * n < 8`. Export should say which n are allowed, but an assertion fails.

The guard is simplified to n < 8/3. `prettify_results`, which writes the suggested fixes, takes only digits
for a number (`right.isdigit()`) and expects an equation for everything else. It should allow fractions.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if 3 * x.shape[0] < 8 else x


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AssertionError, torch._dynamo.exc.UserError) as error:
        if isinstance(error, AssertionError) and "Expected op to be" not in str(error):
            raise
        bug = isinstance(error, AssertionError)
        print(f"{'BUG' if bug else 'ok'}: export should say what n may be, and raises {error!r}")
        raise SystemExit(bug) from None
    print("ok: export should say what n may be, and raises nothing")
