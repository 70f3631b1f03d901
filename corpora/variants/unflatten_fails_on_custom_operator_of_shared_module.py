# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: AttributeError if a custom operator updates a buffer of a preserved module"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "AttributeError",
#         "unflatten.py:remap_input",
#         "unflatten.py:read",
#         "unflatten.py:remap_input",
#     ],
# ]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = "https://github.com/pytorch/pytorch/pull/175914"
# upstream-match = "place"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.remap_input: takes any getitem for one of sizes"
# workaround = "none: in-place operators of PyTorch avoid this error, but meet other known bugs of unflatten"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved module updates its buffer with a custom operator, and is called twice. Decomposed, it cannot be
unflattened.

The second call reads the new value of the buffer, an item of the results of the operator. `remap_input` takes
every `operator.getitem` for an item of a torch.Size, and `_IVals.read` then handles the wrong node.
"""

import sys

import torch
from torch import nn


@torch.library.custom_op("exportdiff::count", mutates_args=("total",))
def count(total: torch.Tensor) -> None:
    total.add_(1)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(1))

    def forward(self, x):
        count(self.total)
        return x + self.total


class Model(nn.Module):
    def forward(self, x):
        return self.counter(self.counter(x))


def make():
    model = Model()
    model.counter = Counter()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, preserve_module_call_signature=("counter",))
    torch.export.unflatten(program.run_decompositions())


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AttributeError as error:
        sys.exit(f"BUG: unflatten raises AttributeError: {error}")
    print("ok: the program can be unflattened")
