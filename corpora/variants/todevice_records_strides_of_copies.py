# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "move_to_device_pass: the graph records contiguous strides for views"
# variant-of = "todevice_fails_on_vmap"
# path = "nonstrict+todevice:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = []
# undetected-because = "it shows where a program really moves to another device: --device second"
# fix = "move_to_device_records_strides_of_views"
# upstream = ""
# at-fault = "torch/export/passes/__init__.py, move_to_device_pass: v.to(...) of node.meta['val']"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A column of a matrix has stride 2. In the graph of a moved program, it is recorded with stride 1.

The pass moves the recorded fake tensors with `to()`. This copies them, and the copy of a view with gaps has
none. It should keep the strides.
"""

import sys

import torch
from torch.export.passes import move_to_device_pass


class Model(torch.nn.Module):
    def forward(self, x):
        return x[:, 0]


def make():
    return Model(), (torch.ones(2, 2),)


def show():
    model, args = make()
    moved = move_to_device_pass(torch.export.export(model, args), "meta")
    result = next(iter(reversed(moved.graph.nodes))).args[0][0]
    return model(*args).stride(), result.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the result has the strides {expected}, the moved program records {got}")
    raise SystemExit(bug)
