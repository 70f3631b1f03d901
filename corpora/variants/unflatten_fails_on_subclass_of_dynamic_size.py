# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: TypeError 'unhashable type' if forward makes and returns a subclass of dynamic size"
# variant-of = "export_returns_fake_parts_of_subclass"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError"]]
# fix = "export_refuses_subclasses_made_in_forward"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, PythonKeyTracer.create_arg: lifts a new subclass"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward makes a tensor subclass of dynamic size and returns it. The program cannot be unflattened.

The tracer does not know the new subclass, and takes it for a constant, whose sizes are symbols of the trace.
unflatten cannot hash these. Export should record the call of the constructor, or refuse it.
"""

import sys

import torch
from torch import nn
from torch.testing._internal.subclasses import WrapperSubclass


class Model(nn.Module):
    def forward(self, x):
        return WrapperSubclass(x * 2)


def make():
    return Model(), (torch.ones(2, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    torch.export.unflatten(torch.export.export(model, args, dynamic_shapes=dynamic_shapes()))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r:.100}")
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition(",")[0])
        raise SystemExit(0) from None
    print("ok: neither eager nor unflatten raises")
