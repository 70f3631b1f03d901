# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD272"
# title = "unflatten: RuntimeError if a preserved submodule returns a dataclass with an unread field"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a preserved submodule that returns a dataclass with an unread field"
# topics = ["containers", "unused-results"]
# cause = """
# unflatten removes dead code first (`_remove_effect_tokens`), also the operator that computes the other
# field, though the signature of the child names it. The child returns None there. A registered dataclass
# leaves out fields that are None, so that its structure is not the recorded one."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "RuntimeError", "_pytree.py:tree_flatten_spec"]]
# fix = "effect_removal_keeps_arguments"
# upstream = "https://github.com/pytorch/pytorch/pull/128260"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_remove_effect_tokens_pass.py, _remove_effect_tokens: eliminate_dead_code"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child returns a dataclass, of which the parent reads one field. The unflattened model raises
RuntimeError.

unflatten removes dead code first (`_remove_effect_tokens`), also the operator that computes the other field,
though the signature of the child names it. The child returns None there. A registered dataclass leaves out
fields that are None, so that its structure is not the recorded one.
"""

import sys
from dataclasses import dataclass

import torch


@dataclass
class Parts:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Parts)


class Child(torch.nn.Module):
    def forward(self, x):
        return Parts(x + 1, x + 2)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x).left


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Return only what the caller reads."""

    class Single(Child):
        def forward(self, x):
            return x + 1

    class Reading(Model):
        def __init__(self):
            super().__init__()
            self.child = Single()

        def forward(self, x):
            return self.child(x)

    return Reading(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    print(f"ok: eager gives {expected}, unflatten {got}")
