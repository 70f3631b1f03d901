# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD183"
# title = "torch.export.load: RuntimeError for a program that returns a str"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an output that names a kind or a unit, next to the tensors"
# topics = ["containers"]
# cause = """
# `serialize_graph_output` writes the str as `as_string`. `deserialize_graph_output` reads all other
# constants, but not this one."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "RuntimeError",
#         "__init__.py:load",
#     ],
# ]
# fix = "text_is_loaded_as_an_output"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, deserialize_graph_output: as_string is missing"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A program that returns a str can be saved, but loading it raises RuntimeError.

`serialize_graph_output` writes the str as `as_string`. `deserialize_graph_output` reads all other constants,
but not this one.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {"score": x + 1, "unit": "percent"}


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    expected = model(*args)
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return expected, torch.export.load(file).module()(*args)


def make_workaround():
    """Return the tensor only, and add the text after the call."""

    class Shorter(Model):
        def forward(self, x):
            return {"score": x + 1}

    return Shorter(), (torch.ones(1),)


def workaround_call(module, x):
    return {**module(x), "unit": "percent"}


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "deserializing" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the loaded program raises {error!r}")
    print(f"ok: eager returns {expected}, the loaded program {got!r}")
