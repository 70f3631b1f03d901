# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD299"
# title = "ep.module(): SyntaxError for a dict that has a quote in one of its keys"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a dict of inputs with a key like \"it's\""
# topics = ["containers", "names"]
# cause = """
# Each guard is also the message of its check, and is written between double quotes: "Guard failed:
# x["it's"].size()[0] == 1". For this key, the guard has double quotes itself. The message should be written
# with `repr`."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SyntaxError"]]
# fix = "guard_messages_as_literals"
# upstream = ""
# at-fault = "torch/export/_unlift.py, _convert_guards_code_to_fn: double quotes around a message"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""If a key of an input dict has a quote, `ep.module()` raises SyntaxError.

Each guard is also the message of its check, and is written between double quotes: "Guard failed:
x["it's"].size()[0] == 1". For this key, the guard has double quotes itself. The message should be written
with `repr`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x["it's"] + 1


def make():
    return Model(), ({"it's": torch.zeros(1)},)


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
