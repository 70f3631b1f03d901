# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD331"
# former-ids = ["XD228"]
# title = "move_to_device_pass: RuntimeError if the model calls torch.vmap"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a program with torch.vmap, exported on the CPU and moved to a GPU"
# topics = ["vmap", "layout", "views"]
# cause = """
# The graph records a fake tensor for each node. Those inside the vmapped function are batched, and their
# level of vmap ended with export. The pass calls `to()` on them, which raises. It should move the tensor that
# they wrap."""
# path = "nonstrict+todevice:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = []
# undetected-because = "it shows where a program really moves to another device: bench --only gpu"
# fix = "move_to_device_records_strides_of_views"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/passes/__init__.py, move_to_device_pass: v.to(...) of node.meta['val']"
# workaround = "none: export the model on the device on which the program will run"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A program that calls torch.vmap cannot be moved to another device. move_to_device_pass raises "your tensor
may have escaped from inside a function being vmapped over".

The graph records a fake tensor for each node. Those inside the vmapped function are batched, and their level
of vmap ended with export. The pass calls `to()` on them, which raises. It should move the tensor that they
wrap.
"""

import sys

import torch
from torch.export.passes import move_to_device_pass


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.vmap(torch.relu)(x)


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    move_to_device_pass(torch.export.export(model, args), "meta")


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "escaped" not in str(error):
            raise
        sys.exit(f"BUG: the program cannot be moved: {error!r:.100}")
    print("ok: the program was moved")
