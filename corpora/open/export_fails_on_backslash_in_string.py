# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD294"
# title = "ep.module(): SyntaxError if a string argument ends in a backslash"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a string argument that ends in a backslash, or has a quote"
# topics = ["arguments"]
# cause = "_get_input_guards_for_graph puts a string argument between quotes as it is, instead of its repr."
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
r"""Exported with a string that ends in a backslash, `ep.module()` raises SyntaxError.

The code of the guard is `name == 'a\'`, which is no valid Python: `_get_input_guards_for_graph` writes the
string between quotes as it is. It should write `repr(name)`.
"""

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
