# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD113"
# former-ids = ["XD094"]
# title = "torch.export: AssertionError for x.t_() if the input is a view"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "t_() on an input that is a view of another tensor"
# topics = ["in-place", "views"]
# cause = """
# The meta function of `t_` calls as_strided_, which compares the size of the result with the memory of the
# base. Export makes the sizes of the input static, but not those of its base. So a size of the base gets into
# a guard, and has no source: "sources must not be empty". The base of a static input should be static."""
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
#         "non_strict_utils.py:produce_guards_and_solve_constraints",
#         "symbolic_shapes.py:produce_guards",
#         "symbolic_shapes.py:produce_guards_verbose",
#     ],
# ]
# fix = "base_of_static_input_is_static"
# upstream = ""
# at-fault = "torch/_export/non_strict_utils.py, _create_symbolic_context_for_tensor: no view_base_context"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "fixed"
# ///
"""The model transposes its input in place. If the input is a view, export fails an assertion.

The meta function of `t_` calls as_strided_, which compares the size of the result with the memory of the
base. Export makes the sizes of the input static, but not those of its base. So a size of the base gets into a
guard, and has no source: "sources must not be empty". The base of a static input should be static.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.t_()
        return x + 1


def make():
    return Model(), (torch.ones(2, 3)[:],)


def show():
    model, (x,) = make()
    torch.export.export(model, (x.clone(),), strict=False)
    torch.export.export(model, (x,), strict=False)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: with a view as the input, torch.export raises {error!r}")
    print("ok: with a view as the input, torch.export raises nothing")
