# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: AttributeError if a preserved submodule updates a buffer under no_grad, twice"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
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
#         "unflatten.py:remap_input",
#         "unflatten.py:read",
#         "unflatten.py:remap_input",
#     ],
# ]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = "https://github.com/pytorch/pytorch/pull/175914"
# upstream-match = "place"
# at-fault = "torch/export/unflatten.py, _ModuleFrame.remap_input: x.target.__module__ == '_operator'"
# workaround = "none: a write without no_grad mends the crash; then unflatten prints a line"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule updates a buffer under no_grad, and is called twice. unflatten raises AttributeError.

The no_grad block returns the updated buffer, and the second call reads this result. `remap_input` takes it
for the result of an operator that writes to its first argument. The first argument of the block is False, the
grad mode.
"""

import sys

import torch


class Child(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        with torch.no_grad():
            self.count.add_(1)
        return x + self.count


def make():
    return torch.nn.Sequential(child := Child(), torch.nn.ReLU(), child), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AttributeError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
