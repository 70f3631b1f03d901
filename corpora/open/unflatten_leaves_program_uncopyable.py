# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: afterwards, copy.deepcopy of the program raises RuntimeError"
# severity = "B"
# severity-because = "copy.deepcopy of a program that was unflattened before"
# cause = """
# UnflattenedModule.__init__ takes the metadata of the program without a copy and stores itself in it."""
# path = "nonstrict+deepcopy:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# fix = "unflatten_copies_metadata"
# upstream = ""
# undetected-because = "each path has a program of its own, and copies it before it is unflattened"
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: self.meta[\"unflattened_module\"] = self"
# ///
"""copy.deepcopy(ep) works at first; after torch.export.unflatten(ep) it raises.

The metadata of the program is not copied but taken, and the unflattened module put into it: from then on the
program holds that module, which cannot be copied.
"""

import copy
import sys

import torch


def make():
    return torch.nn.ReLU(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    ep = torch.export.export(*make())
    copy.deepcopy(ep)
    torch.export.unflatten(ep)
    try:
        copy.deepcopy(ep)
        seen = "works"
    except RuntimeError as error:
        seen = str(error).partition(" (")[0]
    bug = seen != "works"
    print(f"{'BUG' if bug else 'ok'}: copying a program works, and after unflatten: {seen}")
    raise SystemExit(bug)
