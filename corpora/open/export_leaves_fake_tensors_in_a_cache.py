# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD132"
# title = "torch.export: fake tensors stay in the cache object of a model; its next eager call fails"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a cache in a separate object, a hook that collects activations; eager breaks"
# topics = ["kv-cache", "hooks"]
# cause = """
# Export restores attributes of modules and lists in them, but not other objects.
# `_detect_attribute_assignment` should restore what they contain, or warn."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "fake tensor in an object"]]
# trigger = ["idiom.python_state"]
# upstream = "https://github.com/pytorch/pytorch/issues/153062"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# defended = "https://github.com/pytorch/pytorch/issues/153062: expected of non-strict tracing"
# at-fault = """
# torch/_functorch/_aot_autograd/frontend_utils.py, _detect_attribute_assignment: modules alone"""
# workaround = "none: export a copy of the model, made with copy.deepcopy"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward appends a tensor to a list in a cache object. After an export, this list has a fake tensor, and
eager fails.

Export restores attributes of modules and lists in them, but not other objects. `_detect_attribute_assignment`
should restore what they contain, or warn.
"""

import sys

import torch
from torch import nn


class Cache:
    def __init__(self):
        self.keys = []


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = Cache()

    def forward(self, x):
        self.cache.keys.append(x * 2)
        return torch.cat(self.cache.keys)


def make():
    return Model(), (torch.ones(1, 3),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return [], [type(key).__name__ for key in model.cache.keys]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: after export, the cache of the eager model holds {got or 'nothing'}")
    raise SystemExit(bug)
