# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD170"
# title = "ep.module(): SyntaxError for a ModuleDict key that is a Python keyword"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a ModuleDict with a Python keyword for a key, such as class"
# topics = ["names"]
# cause = """
# `_format_target` writes a name as an attribute if it is an identifier, and with getattr otherwise.
# `"class".isidentifier()` is True, so that the code reads `self.heads.class.weight`. It should also ask
# `keyword.iskeyword`."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SyntaxError"]]
# fix = "fx_reads_keywords_with_getattr"
# upstream = "https://github.com/pytorch/pytorch/issues/188538"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/191687"
# at-fault = "torch/fx/graph.py, _format_target: str.isidentifier is true of keywords"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model has a ModuleDict with the key `class`. `ep.module()` and unflatten raise SyntaxError.

`_format_target` writes a name as an attribute if it is an identifier, and with getattr otherwise.
`"class".isidentifier()` is True, so that the code reads `self.heads.class.weight`. It should also ask
`keyword.iskeyword`.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleDict({"class": torch.nn.Linear(1, 1)})

    def forward(self, x):
        return self.heads["class"](x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    ep.module()


def make_workaround():
    """Give the child a name that is no keyword of Python."""

    class Renamed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = torch.nn.ModuleDict({"class_": torch.nn.Linear(1, 1)})

        def forward(self, x):
            return self.heads["class_"](x)

    return Renamed(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except SyntaxError as error:
        sys.exit(f"BUG: ep.module() raises {error!r}")
    print("ok: ep.module() works")
