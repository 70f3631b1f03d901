# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export of a GraphModule: a dict or list that it returns becomes an immutable one"
# severity = "B"
# severity-because = "a traced model that returns a dict of outputs, which a caller completes"
# cause = """
# Non-strict export runs a GraphModule with an Interpreter, and takes the structure of the outputs from the
# arguments of the output node, where containers are immutable."""
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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# upstream = ""
# at-fault = "torch/export/_trace.py, _aot_export_non_strict: outputs are taken from the Interpreter"
# ///
"""The result of torch.fx.symbolic_trace returns a dict. What was exported of it returns an immutable_dict.

Assigning to it raises. Non-strict export alone does so.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {"logits": x * 2}


def make():
    return torch.fx.symbolic_trace(Model()), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected = model(*args)
    seen = torch.export.export(model, args, strict=False).module()(*args)
    bug = type(seen) is not type(expected)
    kinds = [type(each).__name__ for each in (expected, seen)]
    print(
        f"{'BUG' if bug else 'ok'}: eager returns a {kinds[0]}, the exported program one of type {kinds[1]}"
    )
    raise SystemExit(bug)
