# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD315"
# title = "torch.export(strict=True): SyntaxError for an attribute whose name is a Python keyword"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a tensor attribute called class, set by setattr"
# topics = ["names"]
# cause = """
# AttrSource writes the path of a value as code, and uses getattr if the name is no identifier.
# `"class".isidentifier()` is True, so that the code is `L['self'].class`. It should also ask
# `keyword.iskeyword`."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "SyntaxError"]]
# fix = "dynamo_reads_keywords_with_getattr"
# upstream = ""
# at-fault = "torch/_dynamo/source.py, AttrSource._name_template: str.isidentifier is true of keywords"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A tensor attribute called `class`, set by setattr and read by getattr, makes strict export raise
SyntaxError.

AttrSource writes the path of a value as code, and uses getattr if the name is no identifier.
`"class".isidentifier()` is True, so that the code is `L['self'].class`. It should also ask
`keyword.iskeyword`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        setattr(self, "class", torch.ones(1))

    def forward(self, x):
        return x + getattr(self, "class")


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, strict=True)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SyntaxError as error:
        sys.exit(f"BUG: strict export raises {error!r}")
    print("ok: strict export works")
