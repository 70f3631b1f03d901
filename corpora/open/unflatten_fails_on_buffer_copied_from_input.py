# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD238"
# title = "unflatten: RuntimeError for a decomposed program that copies an input into a buffer"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a buffer that keeps the last input by copy_, decomposed"
# topics = ["buffers", "kv-cache"]
# cause = """
# The new value of the buffer is the input itself. `_inplace_buffer_and_input_mutations` inserts a copy_ with
# the metadata of the input, which has no nn_module_stack, and unflatten demands one of each operator."""
# path = "nonstrict+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs", "crash", "lower", "RuntimeError", "unflatten.py:_outline_submodules",
#         "unflatten.py:run_outer", "unflatten.py:run_from",
#     ],
# ]
# unmasked = [
#   ["structure", "mismatch", "steps", "operands", "buffer", "input"],
#   # A buffer that is a copy of another one: ep.module() returns it, unflatten returns the other one.
#   ["structure", "mismatch", "steps", "operands", "buffer", "buffer"],
# ]
# fix = "unflatten_copies_inputs_into_buffers"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _inplace_buffer_and_input_mutations"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model copies its input into a buffer. The decomposed program cannot be unflattened: RuntimeError.

The new value of the buffer is the input itself. `_inplace_buffer_and_input_mutations` inserts a copy_ with
the metadata of the input, which has no nn_module_stack, and unflatten demands one of each operator.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.buf.copy_(x)
        return x + 1


def make():
    model = Model()
    model.register_buffer("buf", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args).run_decompositions()
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Copy a clone of the input into the buffer."""

    class Cloning(Model):
        def forward(self, x):
            self.buf.copy_(x.clone())
            return x + 1

    model = Cloning()
    model.register_buffer("buf", torch.zeros(1))
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
