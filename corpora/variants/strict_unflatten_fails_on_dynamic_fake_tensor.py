# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten of a strict export: TypeError if the model reads x.data and x has a dynamic size"
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
"""The model reads `x.data`, and x has a dynamic size. Unflattened after strict export, it raises TypeError.

For `.data`, Dynamo puts a call of `_get_data_attr` into its graph, which calls no operator. So export makes a
constant of the fake tensor. unflatten uses its sizes as a key of a dict, and a SymInt cannot be hashed.
Dynamo should record detach.
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
