# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD273"
# title = "unflatten of a decomposed program: returns a copy of the input or buffer that the model updates"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a model that returns the input or buffer that it updates, decomposed: a copy"
# topics = ["in-place", "views"]
# cause = """
# `_inplace_buffer_and_input_mutations` replaces the new value by `x.copy_(value)` for all readers. Then it
# sets the outputs again from the list that it has read before."""
# path = "nonstrict+decompose:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "operands", "input", "result"]]
# fix = "unflatten_returns_what_it_writes_to"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations: return_args"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns `x.add_(1)`, which is its input. Decomposed and unflattened, it returns a copy.

`_inplace_buffer_and_input_mutations` replaces the new value by `x.copy_(value)` for all readers. Then it sets
the outputs again from the list that it has read before.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.add_(1)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, (x,) = make()
    ep = torch.export.export(model, (x,)).run_decompositions()
    y = x.clone()
    return model(x) is x, torch.export.unflatten(ep)(y) is y


def make_workaround():
    """Return a copy."""

    class Copying(Model):
        def forward(self, x):
            return x.add_(1).clone()

    return Copying(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the output is the input: {expected} in eager, {got} after unflatten")
    raise SystemExit(bug)
