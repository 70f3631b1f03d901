# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD203"
# title = "torch.export(strict=True): KeyError for a module or a parameter in a plain list"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a list in place of an nn.ModuleList is a usual mistake; non-strict export takes it"
# topics = ["constants"]
# cause = """
# Dynamo registers the weights of the layer on the traced module. `_rewrite_dynamo_tensor_constants` makes
# constants of buffers that the model does not have, but not of parameters, so that
# `_get_param_buffer_mapping` looks for their names in vain."""
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
# upstream = "https://github.com/pytorch/pytorch/issues/150428"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185728"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _rewrite_dynamo_tensor_constants: handles buffers only"
# workaround = "none: use an nn.ModuleList, which also adds the parameters to the state of the model"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""A layer is in a plain list. Strict export raises KeyError without a message; non-strict export accepts the
model.

Dynamo registers the weights of the layer on the traced module. `_rewrite_dynamo_tensor_constants` makes
constants of buffers that the model does not have, but not of parameters, so that `_get_param_buffer_mapping`
looks for their names in vain.
"""

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


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except KeyError as error:
        sys.exit(f"BUG: torch.export raises KeyError: {error}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
