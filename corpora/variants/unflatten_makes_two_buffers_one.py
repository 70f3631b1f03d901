# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: two buffers that share memory become one tensor"
# variant-of = "unflatten_takes_parameter_for_buffer"
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "several-tensors-became-one"]]
# trigger = ["state.one_storage"]
# upstream = ""
# at-fault = "torch/export/unflatten.py, _id: shape, stride and memory, not identity"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`same` is `whole.detach()`: two tensors in one memory. In the unflattened module, they are one tensor.

So `requires_grad_()` or `t_()` of one changes the other as well. unflatten identifies tensors by memory,
sizes, strides and offset (`_id`). It should compare identity.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + self.whole


def make():
    model = Model()
    model.register_buffer("whole", torch.ones(1))
    model.register_buffer("same", model.whole.detach())
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model.whole is model.same, unflattened.whole is unflattened.same


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: one tensor: {expected} in eager, {got} in unflatten")
    raise SystemExit(bug)
