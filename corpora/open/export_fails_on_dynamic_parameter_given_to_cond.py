# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD416"
# title = "torch.export: InternalTorchDynamoError if torch.cond gets a parameter of dynamic size"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a learned prompt given as the example input, a dynamic length, and torch.cond"
# topics = ["control-flow", "dynamic-sizes"]
# cause = """
# Dynamo traces the cond, with the fake inputs of export. For its metrics, `TENSOR_MATCH` counts the bytes of
# each parameter that is guarded. nbytes needs numbers as sizes. It should leave out other parameters."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "InternalTorchDynamoError",
#         "guards.py:build_guards",
#         "_guards.py:create",
#         "guards.py:TENSOR_MATCH",
#     ],
# ]
# fix = "guards_count_no_dynamic_parameters"
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/_dynamo/guards.py, GuardBuilder.TENSOR_MATCH: nbytes of a parameter with symbolic sizes"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model gets a learned prompt of any length, and has a torch.cond. Export raises InternalTorchDynamoError:
"Cannot call numel() on tensor with symbolic sizes/strides".

Dynamo traces the cond, with the fake inputs of export. For its metrics, `TENSOR_MATCH` counts the bytes of
each parameter that is guarded. nbytes needs numbers as sizes. It should leave out other parameters.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, prompt):
        return torch.cond(prompt.sum() > 0, torch.sin, torch.cos, (prompt,))


def make():
    return Model(), (torch.nn.Parameter(torch.ones(4)),)


def dynamic_shapes():
    return {"prompt": {0: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    torch.export.export(model, args, dynamic_shapes=dynamic_shapes())


def make_workaround():
    """Export with an example that is no parameter."""
    return Model(), (torch.ones(4, requires_grad=True),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.InternalTorchDynamoError as error:
        if "Cannot call numel()" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
