# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: returns a tensor instead of a tuple for sizes that ep.module() refuses"
# variant-of = "unflatten_checks_no_guards"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "structure", "probe"]]
# fix = "unflatten_checks_guards"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.process_forward_inputs"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns a tuple for an odd number of rows. Exported with four rows and called with three,
unflatten returns a tensor.

`ep.module()` refuses three rows by the guard `x.size()[0] % 2 == 0`.
`UnflattenedModule.process_forward_inputs` does not check guards.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.shape[0] % 2 == 0 else (x, x + 1)


def make():
    return Model(), (torch.zeros(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def probes():
    return [((torch.zeros(3),), {})]


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, dynamic_shapes=dynamic_shapes()))
    return model(torch.zeros(3)), unflattened(torch.zeros(3))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: unflatten refuses three rows: {error}")
        raise SystemExit(0) from None
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: for three rows, eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
