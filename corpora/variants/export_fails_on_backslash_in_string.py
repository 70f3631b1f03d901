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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# upstream = ""
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: a string is put between quotes as it is"
# ///
r"""`ep.module()` raises SyntaxError: the guard has the string between quotes as it is, `name == 'a\'`."""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, name):
        return x + len(name)


def make():
    return Model(), (torch.zeros(1), "a\\")


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    program = torch.export.export(*make())
    try:
        program.module()
        print("ok: neither eager nor module() raises")
    except SyntaxError as error:
        print(f"BUG: eager raises nothing, module() raises {error!r}")
        raise SystemExit(1) from None
