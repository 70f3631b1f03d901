# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: SyntaxError for a forward that calls random_ with two bounds"
# severity = "B"
# severity-because = "a model that draws random integers with Tensor.random_"
# cause = """
# add_global writes an operator by its qualified name, and the overload of random_ with two bounds is called
# from, a keyword of Python."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "SyntaxError"]]
# fix = "fx_calls_overloads_named_as_keywords"
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# upstream = "https://github.com/pytorch/pytorch/issues/151432"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185456"
# at-fault = "torch/fx/graph.py, _gen_python_code, add_global: a qualified name that does not compile"
# ///
"""Export raises SyntaxError for `random_ = torch.ops.aten.random_.from(zeros, 0, 2)`."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + torch.zeros(1).random_(0, 2)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    seen = "nothing"
    try:
        torch.export.export(model, args)
    except SyntaxError as error:
        seen = f"SyntaxError: {error.text}"
    bug = seen != "nothing"
    print(f"{'BUG' if bug else 'ok'}: torch.export.export raises {seen.strip()}")
    raise SystemExit(bug)
