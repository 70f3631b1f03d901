# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export of x.data with a dynamic size: the program cannot be unflattened"
# variant-of = "strict_bakes_in_a_fake_tensor"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "unflatten.py:unflatten", "unflatten.py:__init__"]]
# fix = "strict_records_reading_of_data"
# upstream = ""
# at-fault = "torch/_dynamo/variables/tensor.py, TensorVariable.method_attr_data: _get_data_attr"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The exported program holds a fake tensor with symbols for sizes, and unflatten raises a TypeError.

UnflattenedModule.__init__ puts the sizes of constants into a dict key (_id), and no SymInt has a hash. There
is a fake constant at all because make_fx has no proxy for what Dynamo makes of .data.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.data + 1


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    ep = torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=True)
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager returns {expected}, unflatten {got!r}")
