# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a buffer that is also a plain attribute becomes two tensors"
# variant-of = "unflatten_splits_aliased_constants"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "buffer", "output"]]
# fix = "unflatten_shares_constants"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over constants"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`same` is the buffer `state`. The model returns `state` in eager. Unflattened, it returns another tensor.

Export makes a constant of `same`. `UnflattenedModule.__init__` clones constants without looking for clones of
buffers.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return self.relu(self.same)


def make():
    model = Model()
    model.relu = torch.nn.ReLU(inplace=True)
    model.register_buffer("state", torch.zeros(1), persistent=False)
    model.same = model.state
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args) is model.state, unflattened(*args) is unflattened.state


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the output is state: {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
