# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: a program that splits a tensor takes only the size of the example"
# id = "XE029"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a GRU, whose decomposition splits, or a gate of two chunks, with a dynamic batch"
# topics = ["dynamic-sizes", "views"]
# cause = """
# To check the dtypes, to_edge looks at what each operator returns. For an operator that returns a list, it
# takes the first tensor of the list for the list, and calls len() of it. This is the dynamic size, so that
# it becomes the example's size in the ShapeEnv. Memory is planned for that size, and the method refuses
# larger ones. The check should take the list as one result."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#   ["outputs", "crash", "run", "RuntimeError", "method for method failed with error", "probe"],
#   ["outputs", "crash", "run", "RuntimeError", "Failed to execute method forward error", "probe"],
# ]
# trigger = ["op.split|layer.*gru*|layer.lstm|layer.attention|layer.encoder_layer", "dynamic.*"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/verification/arg_validator.py, call_function: len() of a tensor"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method refuses four rows with "failed with error 0x10", although up to 64 rows are declared.

To check dtypes, to_edge calls len() of the first part, which fixes the number of rows to the three of the
example. It should call len() of the list of parts.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        value, gate = x.chunk(2, 1)
        return value * gate


def make():
    return Model(), (torch.ones(3, 2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("rows", max=64)}}


def probes():
    return [((torch.ones(4, 2),), {})]


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    exported = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    program = Runtime.get().load_program(to_edge(exported).to_executorch().buffer)
    program.load_method("forward").execute([torch.ones(4, 2)])


def make_workaround():
    """Use slices instead of split or chunk."""

    class Slicing(Model):
        def forward(self, x):
            return x[:, :1] * x[:, 1:]

    return Slicing(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "error 0x10" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the method raises {error!r:.100}")
    print("ok: neither eager nor the method raises")
