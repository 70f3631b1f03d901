# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a preserved submodule that reads a dynamic size gets one more argument"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve+swap:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "run", "TypeError", "takes positional arguments but were given"],
# ]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = "https://github.com/pytorch/pytorch/issues/132930"
# upstream-match = "mechanism"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.copy_sym_call_function: remap_input, x.args"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved child reads the batch size, which is dynamic. It cannot be replaced, since unflatten passes it
two arguments.

The graph has one node for the batch size: the size of the model's input. unflatten computes it again in the
child, and for this passes the model's input as an argument. It should read the size of the argument that the
child has.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x.view(x.shape[0], 6)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x + 1)


def make():
    return Model(), (torch.ones(4, 2, 3),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("batch")}}


def show():
    model, args = make()
    ep = torch.export.export(
        model, args, dynamic_shapes=dynamic_shapes(), preserve_module_call_signature=("child",)
    )
    unflattened = torch.export.unflatten(ep)
    unflattened.child = model.child
    unflattened(*args)


def make_workaround():
    """Reshape without reading the size."""

    class Flattening(Child):
        def forward(self, x):
            return x.flatten(1)

    class Parent(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.child = Flattening()

        def forward(self, x):
            return self.child(x + 1)

    return Parent(), (torch.ones(4, 2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except TypeError as error:
        sys.exit(f"BUG: {error!r:.100}")
    print("ok: the eager child can take the place of the unflattened one")
