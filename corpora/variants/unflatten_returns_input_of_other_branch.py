# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: returns its input instead of a copy for sizes that ep.module() refuses"
# variant-of = "unflatten_checks_no_guards"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "input", "output", "new", "probe"]]
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
"""The model returns a copy of an odd number of rows. Exported with four rows and called with three, unflatten
returns the input itself.

`ep.module()` refuses three rows by the guard `x.size()[0] % 2 == 0`.
`UnflattenedModule.process_forward_inputs` does not check guards.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x if x.shape[0] % 2 == 0 else x.clone()


def make():
    return Model(), (torch.zeros(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def probes():
    return [((torch.zeros(3),), {})]


def show():
    model, args = make()
    ep = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    x = torch.zeros(3)
    return model(x) is x, torch.export.unflatten(ep)(x) is x


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        print(f"ok: unflatten refuses three rows: {error}")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: for three rows, the input is returned: {expected} in eager, {got} here")
    raise SystemExit(bug)
