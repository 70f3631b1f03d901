# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the shape of a returned tensor subclass is a symbol if its size is dynamic"
# variant-of = "export_returns_fake_parts_of_subclass"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape", "fresh"]]
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
"""forward makes a tensor subclass of dynamic size and returns it. The shape of the program's result is not
[2, 3] but [s77, 3].

The tracer does not know the new subclass, and takes it for a constant. The sizes of its parts are symbols of
the trace. Export should record the call of the constructor, or refuse it.
"""

import sys

import torch


class Marked(torch.Tensor):
    """A tensor that carries a mark: its class."""

    def __new__(cls, values):
        return torch.Tensor._make_wrapper_subclass(cls, values.shape, dtype=values.dtype)

    def __init__(self, values):
        self.values = values

    def __tensor_flatten__(self):
        return ["values"], None

    def __tensor_unflatten__(parts, meta, size, stride):
        return Marked(parts["values"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return Marked(args[0].values)


class Model(torch.nn.Module):
    def forward(self, x):
        return Marked(x * 2)  # first difference


def make():
    return Model(), (torch.ones(2, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes()).module()
    return model(*args).shape, program(*args).shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._dynamo.exc.UserError as error:
        print("ok: torch refuses in words:", str(error).partition(",")[0])
        raise SystemExit(0) from None
    bug = any(type(size) is not int for size in got)
    print(f"{'BUG' if bug else 'ok'}: in eager, the shape is {list(expected)}, in the program {list(got)}")
    raise SystemExit(bug)
