# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD280"
# title = "unflatten of a decomposed program: a buffer is updated before its old value is read"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a running state that is read between its new value and the copy_"
# topics = ["buffers", "moving-averages"]
# cause = """
# `_inplace_buffer_and_input_mutations` inserts `state.copy_(new)` right after the node that computes `new`.
# It should insert it after the last node that reads the state."""
# path = "nonstrict+decompose:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_writes_back_after_the_last_reading"
# upstream = "https://github.com/pytorch/pytorch/pull/149206"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations: graph.inserting_after(mutation)"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward computes the new state, then a result from the old state. Unflattened after run_decompositions, it
uses the new state.

`_inplace_buffer_and_input_mutations` inserts `state.copy_(new)` right after the node that computes `new`. It
should insert it after the last node that reads the state.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        new = self.state + x
        change = x - self.state  # first difference
        self.state.copy_(new)
        return change


def make():
    model = Model()
    model.register_buffer("state", torch.ones(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args).run_decompositions())
    return model(*args), unflattened(*args)


def make_workaround():
    """Clone the old state before you compute with it."""

    class Cloning(Model):
        def forward(self, x):
            old = self.state.clone()
            new = old + x
            change = x - old
            self.state.copy_(new)
            return change

    model = Cloning()
    model.register_buffer("state", torch.ones(1))
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
