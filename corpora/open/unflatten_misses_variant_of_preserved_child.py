# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD261"
# title = "unflatten: RuntimeError for a preserved submodule of a module called twice with other arguments"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule of a block that is called twice, with a flag or number that differs"
# topics = ["shared-modules"]
# cause = """
# unflatten makes one dispatcher of all calls of the child, and `elide_call_indices` changes calls of
# `child@1` to `child`. For the second call of the parent it looks for `outer@1.child`, but the names of
# preserved submodules have no "@1"."""
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "Node referenced nonexistent target"]]
# fix = "unflatten_finds_preserved_calls_in_variants"
# upstream = "https://github.com/pytorch/pytorch/pull/141066"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: elide_call_indices"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`outer` is called twice, with different numbers, and its child has a preserved signature. The unflattened
model raises RuntimeError.

unflatten makes one dispatcher of all calls of the child, and `elide_call_indices` changes calls of `child@1`
to `child`. For the second call of the parent it looks for `outer@1.child`, but the names of preserved
submodules have no "@1".
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x, n):
        return x + n


class Outer(torch.nn.Module):
    def forward(self, x, n):
        return self.child(x, n) * n


class Model(torch.nn.Module):
    def forward(self, x):
        return self.outer(self.outer(x, 2), 3)


def make():
    model = Model()
    model.outer = Outer()
    model.outer.child = Child()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("outer.child",))
    return model(*args), torch.export.unflatten(ep)(*args)


def workaround_options():
    """Preserve the signature of the enclosing module as well."""
    return {"preserve_module_call_signature": ("outer", "outer.child")}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten: {got}")
