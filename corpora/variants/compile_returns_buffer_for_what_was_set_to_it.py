# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: (x + 1).set_(self.table) returns the buffer itself"
# variant-of = "decompose_returns_source_of_set"
# path = "compile:aot_eager@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "identity", "buffer", "output", "new"],
# ]
# fix = "functional_set_makes_an_alias"
# upstream = ""
# at-fault = """
# aten/src/ATen/FunctionalTensorWrapper.cpp, set__impl: takes the value of the source, not an alias"""
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In eager, `(x + 1).set_(self.table)` is another tensor in the memory of the buffer. Compiled, it is the
buffer.

So if a caller calls `unsqueeze_` on the result, the buffer also gets another shape. Functionalization gives
the tensor the value of the source of `set_` itself (`set__impl`), so that both are one node of the graph. It
should make an alias.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.ones(2))

    def forward(self, x):
        return (x + 1).set_(self.table)


def make():
    return Model(), (torch.zeros(2),)


def show():
    model, args = make()
    model(*args).unsqueeze_(0)
    expected = model.table.shape
    model.compile(backend="aot_eager")
    model(*args).unsqueeze_(0)
    return expected, model.table.shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(
        f"{'BUG' if bug else 'ok'}: the buffer keeps {expected} in eager, and has {got} under torch.compile"
    )
    raise SystemExit(bug)
