# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: passes None to a preserved submodule whose result is unused"
# variant-of = "unflatten_returns_none_for_unread_field"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "TypeError"]]
# fix = "effect_removal_keeps_arguments"
# upstream = ""
# at-fault = "torch/export/_remove_effect_tokens_pass.py, _remove_effect_tokens: eliminate_dead_code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child counts its calls, and its result is unused. Replaced by the eager child, it gets None for
its argument: TypeError.

unflatten removes dead code first (`_remove_effect_tokens`), also the operator that computes the argument,
though the signature of the child names it. Then it passes None for arguments that it does not find.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        self.calls.add_(1)
        return x * 2


class Model(torch.nn.Module):
    def forward(self, x):
        self.child(x + 1)
        return x


def make():
    model = Model()
    model.child = Child()
    model.child.register_buffer("calls", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    unflattened = torch.export.unflatten(ep)
    unflattened.child = model.child
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error}")
    print(f"ok: eager gives {expected}, unflatten: {got}")
