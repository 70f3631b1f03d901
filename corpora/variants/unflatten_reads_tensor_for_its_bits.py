# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: uses a buffer in place of a view of it as int32"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["state", "mismatch", "dtype", "buffer", "at-start"],
#   ["sharing", "mismatch", "several-tensors-became-one"],
# ]
# trigger = ["state.one_storage"]
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, _id: no dtype in _TensorID"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`bits` is the buffer `scale` viewed as int32. Unflattened, `bits` is `scale`, and the result is float32.

unflatten identifies tensors by memory, sizes, strides and offset (`_TensorID`), but not by dtype.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * self.scale, self.bits + 1


def make():
    model = Model()
    model.register_buffer("scale", torch.ones(1))
    model.register_buffer("bits", model.scale.view(torch.int32))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    expected, got = model(*args)[1], torch.export.unflatten(torch.export.export(model, args))(*args)[1]
    return expected.dtype, got.dtype


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
