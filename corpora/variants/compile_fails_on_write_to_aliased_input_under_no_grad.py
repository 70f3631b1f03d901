# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.compile: RuntimeError under no_grad if forward enables gradients and inputs share memory"
# variant-of = "compile_loses_gradients_that_forward_enables"
# path = "compile:aot_eager@cpu"
# check = "guards"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "guards",
#         "crash",
#         "served",
#         "run",
#         "BackendCompilerFailed",
#         "graph_capture_wrappers.py:functional_call",
#         "symbolic_shapes.py:run_node",
#         "proxy_tensor.py:__torch_function__",
#         "no-grad",
#     ],
# ]
# fix = "inputs_are_cloned_with_grad_mode"
# upstream = ""
# at-fault = "torch/_functorch/_aot_autograd/runtime_wrappers.py, AOTSyntheticBaseWrapper.pre_compile"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Called under no_grad, forward enables gradients and writes to one of two inputs that share memory.
torch.compile raises.

AOTAutograd replaces the inputs by their base, and makes views of it under the no_grad of the caller. The
model then writes to such a view: "A view was created in no_grad mode and is being modified inplace with grad
mode enabled". The views should be made with gradients on.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        with torch.enable_grad():
            x.mul_(2)
            return y


def make():
    x = torch.ones(2, 3, requires_grad=True).clone()
    return Model(), (x, x.t())


def show():
    model, args = make()
    model.compile(backend="aot_eager")
    with torch.no_grad():
        model(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.BackendCompilerFailed as error:
        sys.exit(f"BUG: {error!r:.100}")
    print("ok: the model can be compiled")
