# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD185"
# title = "torch.export.load: RuntimeError (KeyError: 'from') for a program that calls uniform_()"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that draws noise with uniform_(), and is saved and loaded"
# topics = ["random"]
# cause = """
# The schema of aten.uniform_ has the arguments `from` and `to`, with defaults. An argument with its default
# value is not saved, but `deserialize_inputs` expects every argument whose name is a Python keyword: KeyError
# 'from'."""
# path = "nonstrict+reload:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "lower", "RuntimeError", "__init__.py:load"],
# ]
# fix = "load_leaves_keywords_at_their_default"
# upstream = "https://github.com/pytorch/pytorch/pull/136036"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/serde/serialize.py, deserialize_inputs: args.append of a keyword"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A program that calls `uniform_()` can be saved, but loading it raises RuntimeError.

The schema of aten.uniform_ has the arguments `from` and `to`, with defaults. An argument with its default
value is not saved, but `deserialize_inputs` expects every argument whose name is a Python keyword: KeyError
'from'.
"""

import io
import logging
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + torch.empty_like(x).uniform_()


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    torch.export.load(file)


def make_workaround():
    """Draw with torch.rand_like."""

    class Drawing(Model):
        def forward(self, x):
            return x + torch.rand_like(x)

    return Drawing(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    logging.disable(logging.CRITICAL)
    try:
        show()
    except RuntimeError as error:
        if "error when deserializing" not in str(error):
            raise
        sys.exit("BUG: torch.export.load raises RuntimeError")
    print("ok: torch.export.load raises nothing")
