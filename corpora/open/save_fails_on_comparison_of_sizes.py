# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD193"
# title = "torch.export.save: AssertionError for a model that returns a comparison of dynamic sizes"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that says whether its input is long enough, in a program that is saved"
# topics = ["dynamic-sizes"]
# cause = """
# The result is a node of the graph, a SymBoolArgument. `serialize_argument_spec` has branches for SymInt and
# SymFloat, and none for SymBool."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AssertionError",
#         "serialize.py:serialize_signature",
#         "serialize.py:serialize_output_spec",
#         "serialize.py:serialize_argument_spec",
#     ],
# ]
# fix = "save_takes_comparisons_of_sizes"
# upstream = "https://github.com/pytorch/pytorch/pull/187391"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/187391"
# at-fault = "torch/_export/serde/serialize.py, serialize_argument_spec: no branch for SymBoolArgument"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model returns `x.shape[0] > 4` for a dynamic size. The program runs; saving it raises AssertionError
with the message "TODO".

The result is a node of the graph, a SymBoolArgument. `serialize_argument_spec` has branches for SymInt and
SymFloat, and none for SymBool.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x, x.shape[0] > 4


def make():
    return Model(), (torch.ones(3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.DYNAMIC}}


def show():
    model, args = make()
    ep = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    torch.export.save(ep, io.BytesIO())


def make_workaround():
    """Return the size, and compare it after the call."""

    class Returning(Model):
        def forward(self, x):
            return x, x.shape[0]

    return Returning(), (torch.ones(3),)


def workaround_call(module, x):
    y, size = module(x)
    return y, size > 4


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        sys.exit(f"BUG: torch.export.save raises {type(error).__name__}: {error}")
    print("ok: torch.export.save raises nothing")
