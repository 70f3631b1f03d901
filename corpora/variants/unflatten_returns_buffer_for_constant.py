# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: returns a buffer instead of a plain attribute that is detached from it"
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
"""`part` is `buf.detach()`, and the model returns it. Unflattened, it returns the buffer.

unflatten identifies tensors by storage, sizes, strides and offset (`_TensorID`), so that the buffer and the
attribute are one.
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
