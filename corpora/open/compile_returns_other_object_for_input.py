# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD032"
# title = "torch.compile: x.add_(1) returns another tensor than x if two other inputs share memory"
# harm = "wrong later"
# reach = "contrived"
# reach-because = "code that asks whether a result is its input, next to inputs that share memory"
# topics = ["views", "in-place"]
# cause = """
# The other two inputs share memory, and one of them is written to, so that AOTAutograd replaces them by a
# base. This changes the number of x among the inputs, and `create_synthetic_base_metadata` then takes the
# output for a view of x and not for x itself."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity", "input", "output"]]
# fix = "renumbered_inputs_are_returned"
# upstream = "https://github.com/pytorch/pytorch/pull/185029"
# upstream-match = "place"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/187111"
# at-fault = "torch/_functorch/_aot_autograd/input_output_analysis.py, create_synthetic_base_metadata"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""The model returns its first input: `result is x` is True in eager, and False if compiled.

The other two inputs share memory, and one of them is written to, so that AOTAutograd replaces them by a base.
This changes the number of x among the inputs, and `create_synthetic_base_metadata` then takes the output for
a view of x and not for x itself.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, y, z):
        x.add_(1)
        z.mul_(2)
        return x.add_(y)  # first difference


def make():
    z = torch.ones(2)
    return Model(), (torch.zeros(1), z[:1], z)


def show():
    model, args = make()
    return model(*args) is args[0], torch.compile(model, backend="aot_eager")(*args) is args[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the result is the input: {expected} in eager, {got} compiled")
    raise SystemExit(bug)
