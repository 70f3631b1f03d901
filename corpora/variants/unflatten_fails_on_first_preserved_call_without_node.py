# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten fails on a preserved submodule whose first call computes nothing"
# variant-of = "unflatten_fails_on_preserved_call_without_node"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "unflatten.py:__init__",
#         "unflatten.py:_dispatch_modules",
#         "unflatten.py:__init__",
#     ],
# ]
# fix = "unflatten_dispatches_calls_it_has"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule._dispatch_modules: _get_attr"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""For the first call there is a module without a graph, which holds the buffer: it is no InterpreterModule.

Each signature is taken for a module that was made of a call. With parameters or buffers something is found
under that name, but it has no `_ty`.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + self.offset if x.dim() else x


class Model(torch.nn.Module):
    def forward(self, x):
        return self.child(x[0]), self.child(x)


def make():
    model = Model()
    model.child = Child()
    model.child.register_buffer("offset", torch.ones(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
