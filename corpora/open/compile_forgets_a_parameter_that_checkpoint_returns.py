# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD015"
# title = "torch.compile: KeyError 'tensor_dict' after a checkpoint whose function returns a parameter"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a checkpointed function that returns a parameter or an input as it is"
# topics = ["checkpoint"]
# cause = """
# Dynamo makes everything that the body of a checkpoint returns a result of the call, also a parameter. The
# variable of the parameter then has the node of that result. When Dynamo comes to a module that has the
# parameter, `mark_static_input` expects the node of an input with the metadata "tensor_dict". Parameters and
# inputs should keep their nodes."""
# path = "compile:compiled@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "run", "InternalTorchDynamoError", "builder.py:_wrap"]]
# fix = "checkpoint_returns_what_is_from_outside"
# upstream = ""
# at-fault = "torch/_dynamo/variables/higher_order_ops.py, overwrite_tensor_vt_proxy: of inputs as well"
#
# [tool.exportdiff.versions]
# "2.9.1" = "fixed"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A checkpointed module returns its parameter. Code that then reads a container with this module raises
KeyError.

Dynamo makes everything that the body of a checkpoint returns a result of the call, also a parameter. The
variable of the parameter then has the node of that result. When Dynamo comes to a module that has the
parameter, `mark_static_input` expects the node of an input with the metadata "tensor_dict". Parameters and
inputs should keep their nodes.
"""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return self.weight


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.layers = nn.ModuleList([self.child])

    def forward(self, x):
        return checkpoint(self.child, x, use_reentrant=False) * len(self.layers)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    model.compile(backend="eager")
    model(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.InternalTorchDynamoError as error:
        if "tensor_dict" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, torch.compile raises {error!r:.100}")
    print("ok: neither eager nor torch.compile raises")
