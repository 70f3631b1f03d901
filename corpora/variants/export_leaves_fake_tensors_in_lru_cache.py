# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# variant-of = "export_leaves_fake_tensors_in_a_cache"
# title = "torch.export: a table that functools.lru_cache keeps is a fake tensor afterwards, and eager fails"
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "fake tensor in an object"]]
# trigger = ["idiom.python_state"]
# upstream = "https://github.com/pytorch/pytorch/issues/153062"
# upstream-match = "mechanism"
# at-fault = """
# torch/_functorch/_aot_autograd/frontend_utils.py, _detect_attribute_assignment: modules alone"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A function with `functools.lru_cache` makes a table of angles. Export is the first to call it, and the
cache keeps the fake tensor of the trace: the next eager call raises an error.
"""

import functools
import sys

import torch


@functools.lru_cache
def angles(size):
    return torch.arange(size) / 7


class Model(torch.nn.Module):
    def forward(self, x):
        return x + angles(x.shape[-1])


def make():
    return Model(), (torch.ones(3),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return torch.Tensor, type(angles(3))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the cache of eager keeps a {expected}, after export a {got}")
    raise SystemExit(bug)
