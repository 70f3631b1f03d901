# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD212"
# title = "torch.export(strict=True): the program returns fake tensors if the model has a numpy attribute"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a constant kept as numpy, as np.sqrt(dim): a strict program has no value for it"
# topics = ["constants"]
# cause = """
# Dynamo makes an input of the array, and export makes a buffer of this input.
# `_dynamo_graph_capture_for_export` does not read the values of the array, so that the buffer is the fake
# tensor of the input."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "kind"]]
# fix = "strict_keeps_values_of_numpy_attributes"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_dynamo/functional_export.py, _dynamo_graph_capture_for_export: reads no values"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model subtracts a numpy array that is an attribute of it. The program returns a FakeTensor without data.

Dynamo makes an input of the array, and export makes a buffer of this input.
`_dynamo_graph_capture_for_export` does not read the values of the array, so that the buffer is the fake
tensor of the input.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.ones(1).numpy()

    def forward(self, x):
        return x - torch.from_numpy(self.mean)  # first difference


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


def make_workaround():
    """Make a tensor of the array in __init__, and register it as a buffer."""

    class Reading(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.ones(1), persistent=False)

        def forward(self, x):
            return x - self.mean

    return Reading(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the exported program {got}")
    raise SystemExit(bug)
