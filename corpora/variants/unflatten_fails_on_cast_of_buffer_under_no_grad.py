# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: AttributeError if a preserved module casts a buffer under no_grad and is called twice"
# variant-of = "unflatten_reads_operand_in_preserved_module"
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
# # The second call reads the buffer, so nothing reads the result of the first region.
# unmasked = [["structure", "mismatch", "steps", "missing", "operator"]]
# fix = "unflatten_passes_what_is_no_mutation"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _IVals.read: mf.remap_input(node.args[0])"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A rotary embedding casts a buffer to float32 under no_grad, as in Llama, and is called twice. With its
signature preserved, unflatten fails.

The buffer is float32, so that the cast returns it. In the graph it is a result of the no_grad block then, and
the second call reads this result. `_IVals.read` takes the block for an operator that writes to its first
argument, which is a bool.
"""

import sys

import torch


class Rotary(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("frequency", torch.ones(1))

    @torch.no_grad()
    def forward(self, x):
        return x * self.frequency.float()


def make():
    return torch.nn.Sequential(child := Rotary(), torch.nn.ReLU(), child), (torch.ones(1),)


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
