# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export(strict=True): KeyError for a parameter, or a module, in a plain list"
# severity = "B"
# severity-because = "a list in place of an nn.ModuleList is a usual mistake; non-strict export takes it"
# cause = """
# Dynamo makes the parameter one of the traced module, whose names are then replaced by those of the original
# module. The original has not registered it, so _get_param_buffer_mapping has no name for it."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "KeyError",
#         "_trace.py:_strict_export",
#         "_trace.py:_replace_param_buffer_names",
#     ],
# ]
# fix = "parameters_in_lists_are_constants"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0"]
# unaffected = ["2.14.1"]
# at-fault = "torch/export/_trace.py, _rewrite_dynamo_tensor_constants: looks at buffers alone"
# ///
"""A layer in a plain list is not registered, so its weights are constants; strict export raises KeyError."""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(1, 1)]

    def forward(self, x):
        return self.layers[0](x)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    try:
        program = torch.export.export(model, args, strict=True).module()
    except KeyError as error:
        print(f"BUG: torch.export raises KeyError: {error}")
        sys.exit(1)
    print(f"{'ok' if torch.equal(model(*args), program(*args)) else 'BUG'}: eager gives {model(*args)}")
    sys.exit(not torch.equal(model(*args), program(*args)))
