# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD121"
# title = "torch.export of a GraphModule: keyword arguments reach the wrong parameters"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "keyword arguments of a traced model, in another order or with a default left out"
# topics = ["graph-modules", "arguments"]
# cause = """
# Non-strict export runs a GraphModule with an Interpreter, which takes positional arguments only. It passes
# `kwargs.values()` in the order of the caller. It should use the order of the parameters."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "mismatch",
#         "value",
#         "fresh",
#     ],
# ]
# fix = "graph_modules_take_keywords_by_name"
# upstream = "https://github.com/pytorch/pytorch/issues/143732"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _aot_export_non_strict: args = (*args, *kwargs.values())"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A GraphModule is called with keyword arguments. In the exported program, two of them are exchanged.

Non-strict export runs a GraphModule with an Interpreter, which takes positional arguments only. It passes
`kwargs.values()` in the order of the caller. It should use the order of the parameters.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x, plus, minus):
        return x + plus - minus  # first difference


def make():
    given = {"minus": torch.full((1,), 10.0), "plus": torch.full((1,), 1.0)}
    return torch.fx.symbolic_trace(Model()), (torch.zeros(1),), given


def show():
    model, args, kwargs = make()
    expected = model(*args, **kwargs)
    return expected, torch.export.export(model, args, kwargs, strict=False).module()(*args, **kwargs)


def make_workaround():
    """Export the module itself."""
    given = {"minus": torch.full((1,), 10.0), "plus": torch.full((1,), 1.0)}
    return Model(), (torch.zeros(1),), given


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
