# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD160"
# title = "torch.export of a GraphModule: a returned dict or list becomes an immutable one"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a traced model that returns a dict of outputs, which a caller completes"
# topics = ["graph-modules", "containers"]
# cause = """
# torch.fx stores containers in its graphs as immutable ones. Non-strict export runs the GraphModule with an
# Interpreter, and takes the structure of the result from there. It should return plain containers, as strict
# export does."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "mismatch",
#         "structure",
#     ],
# ]
# fix = "graph_modules_return_plain_containers"
# upstream = "https://github.com/pytorch/pytorch/issues/161807"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _aot_export_non_strict: outputs are taken from the Interpreter"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A GraphModule returns a dict. The exported program returns an immutable_dict, and callers cannot add to it.

torch.fx stores containers in its graphs as immutable ones. Non-strict export runs the GraphModule with an
Interpreter, and takes the structure of the result from there. It should return plain containers, as strict
export does.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {"logits": x * 2}  # first difference


def make():
    return torch.fx.symbolic_trace(Model()), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    return type(model(*args)).__name__, type(program(*args)).__name__


def make_workaround():
    """Export the module itself."""
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager returns a {expected}, the exported program one of type {got}")
    raise SystemExit(bug)
