# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module() accepts 1 for the True that it was exported with"
# variant-of = "export_accepts_a_float_for_an_integer"
# path = "nonstrict:module@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "int"]]
# fix = "guard_types_of_numbers"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/export/_unlift.py, _get_input_guards_for_graph: compares the value, not the type"
# ///
"""The model indexes with a flag: x[True] adds a dimension, x[1] takes an element. The guard: `at == True`."""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, at):
        return x[at]


def make():
    return Model(), (torch.ones(2), True)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, (x, at) = make()
    program = torch.export.export(model, (x, at)).module()
    expected = model(x, 1)
    try:
        seen = program(x, 1)
    except AssertionError as error:
        seen = error
    bug = torch.is_tensor(seen) and not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {seen}")
    raise SystemExit(bug)
