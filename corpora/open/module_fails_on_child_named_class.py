# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "ep.module(): SyntaxError for a ModuleDict key that is a Python keyword"
# severity = "B"
# severity-because = "a ModuleDict with a Python keyword for a key, such as class"
# cause = """
# _format_target writes a name as an attribute if str.isidentifier says so, which it does of keywords."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "SyntaxError"]]
# fix = "fx_reads_keywords_with_getattr"
# upstream = "https://github.com/pytorch/pytorch/issues/188538"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/191687"
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/graph.py, _format_target: str.isidentifier is true of keywords"
# ///
"""A model with a ModuleDict key `class` is exported, and `ep.module()` and `unflatten` raise SyntaxError.

_format_target writes each name of a path as an attribute if it is an identifier, and with getattr otherwise.
`str.isidentifier` says yes to keywords, so the code of the graph reads `self.heads.class.weight`.
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    ep = torch.export.export(*make())
    try:
        ep.module()
        error = None
    except SyntaxError as caught:
        error = caught
    print(f"BUG: ep.module() raises {error!r}" if error else "ok: ep.module() works")
    raise SystemExit(error is not None)
