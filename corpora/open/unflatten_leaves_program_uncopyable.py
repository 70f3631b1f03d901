# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD258"
# title = "unflatten(ep): afterwards, copy.deepcopy(ep) raises RuntimeError"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "copy.deepcopy of a program that was unflattened before"
# topics = ["copies"]
# cause = """
# `UnflattenedModule.__init__` uses the metadata of the program without a copy, and stores itself in it. So
# the program contains the unflattened module, which cannot be copied. It should copy the metadata."""
# path = "nonstrict+unflatten_first+deepcopy:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# fix = "unflatten_copies_metadata"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: self.meta[\"unflattened_module\"] = self"
# workaround = "none: copy the program before it is unflattened"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""copy.deepcopy(ep) works. After `torch.export.unflatten(ep)` it raises RuntimeError.

`UnflattenedModule.__init__` uses the metadata of the program without a copy, and stores itself in it. So the
program contains the unflattened module, which cannot be copied. It should copy the metadata.
"""

import copy
import sys

import torch


def make():
    return torch.nn.ReLU(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    copy.deepcopy(ep)
    torch.export.unflatten(ep)
    copy.deepcopy(ep)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        sys.exit(f"BUG: copying a program works, and after unflatten: {error!r:.100}")
    print("ok: copying a program works, and after unflatten: works")
