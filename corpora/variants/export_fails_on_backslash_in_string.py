# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() fails on a string that ends in a backslash"
# variant-of = "export_fails_on_field_that_begins_as_another"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SyntaxError"]]
# fix = "guard_strings_as_literals"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: a string is put between quotes as it is"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
r"""`ep.module()` raises SyntaxError: the guard has the string between quotes as it is, `name == 'a\'`."""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, name):
        return x + len(name)


def make():
    return Model(), (torch.zeros(1), "a\\")


def show():
    model, args = make()
    program = torch.export.export(model, args)
    program.module()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SyntaxError as error:
        sys.exit(f"BUG: eager raises nothing, module() raises {error!r}")
    print("ok: neither eager nor module() raises")
