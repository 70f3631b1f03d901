# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD013"
# title = "torch.compile: flatten and group_norm use the sizes that a tensor had before set_"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "set_, or data assigned, with another shape, then flatten or group_norm"
# topics = ["data-attribute"]
# cause = """
# `set_` changes the sizes of the tensor inside of a FunctionalTensor; the wrapper keeps its own. `flatten`
# and `group_norm` are composed of other operators in C++, which ask the wrapper. The wrapper should get the
# new sizes."""
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape"]]
# fix = "functional_set_gives_sizes"
# upstream = "https://github.com/pytorch/pytorch/issues/197399"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/functional_tensor.py, FunctionalTensorMode: 'func is not aten.set_'"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`y.set_(x)` gives y one row instead of two. Under torch.compile, `y.flatten(1)` still returns two rows.

`set_` changes the sizes of the tensor inside of a FunctionalTensor; the wrapper keeps its own. `flatten` and
`group_norm` are composed of other operators in C++, which ask the wrapper. The wrapper should get the new
sizes.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(2, 1, 2)
        y.set_(x)
        return y.flatten(1)  # first difference


def make():
    return Model(), (torch.ones(1, 2, 2),)


def show():
    model, args = make()
    expected = model(*args).shape
    model.compile(backend="aot_eager")
    return expected, model(*args).shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: flatten gives {expected} in eager, and {got} under torch.compile")
    raise SystemExit(bug)
