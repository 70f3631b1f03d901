# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD168"
# title = "ep.module(): SyntaxError for forward(self, x_0, *x)"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an argument that has the name of *args and a number"
# topics = ["names", "arguments"]
# cause = """
# `_get_forward_arg_names` calls the values of `*x` x_0, x_1 and so on, also if another argument has this
# name. It should choose names that are free."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SyntaxError",
#         "exported_program.py:module",
#         "_unlift.py:_unlift_exported_program_lifted_states",
#         "_unlift.py:_unlift",
#     ],
# ]
# fix = "items_of_args_get_names_of_their_own"
# upstream = ""
# at-fault = "torch/export/_trace.py, _get_forward_arg_names: does not look at other arguments"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`forward(self, x_0, *x)` can be exported, but `ep.module()` raises "duplicate argument 'x_0'".

`_get_forward_arg_names` calls the values of `*x` x_0, x_1 and so on, also if another argument has this name.
It should choose names that are free.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x_0, *x):
        return x_0 - x[0]


def make():
    return Model(), (torch.ones(1), torch.ones(1))


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    return model(*args), ep.module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except SyntaxError as error:
        sys.exit(f"BUG: ep.module() raises SyntaxError: {error}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: {expected} in eager, {got} from ep.module()")
    raise SystemExit(bug)
