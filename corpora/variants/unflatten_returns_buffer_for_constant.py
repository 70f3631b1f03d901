# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten returns a buffer instead of a constant that is a view of it"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "constant", "output"]]
# fix = "unflatten_tells_parameters_from_their_views"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, consts_map"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns `part`; the unflattened module returns `buf`, of which `part` has become a mere copy.

consts_map takes the two for names of one tensor, as they agree in storage, sizes, strides and offset
(_TensorID). A write to the result no longer appears in `part`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1, self.part


def make():
    model = Model()
    model.register_buffer("buf", torch.zeros(1))
    model.part = model.buf.detach()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args)[1] is model.part, unflattened(*args)[1] is unflattened.part


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the output is part: {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
