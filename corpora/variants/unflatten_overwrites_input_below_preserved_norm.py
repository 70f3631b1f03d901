# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: overwrites the model's input if a preserved norm casts to float32"
# variant-of = "unflatten_reads_operand_in_preserved_module"
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# # The caller reads the operand, not the cast of it, which is the same tensor.
# unmasked = [
#   ["structure", "mismatch", "steps", "operands", "result", "result"],
#   ["structure", "mismatch", "steps", "shared-graph"],
# ]
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
"""A block adds the result of its norm to its input, as in Llama. With the norm preserved, a call of the
unflattened model changes the example input.

The norm casts to float32. Its input is float32, so that the cast returns the same tensor, and the block reads
it as a result of the norm. The norm does not return it. `_IVals` takes it for a new value of the input, and
writes it there.
"""

import sys

import torch


class Norm(torch.nn.Module):
    def forward(self, x):
        return x.float() * 10


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()

    def forward(self, x):
        return x + self.norm(x)


def make():
    layers = torch.nn.Sequential(torch.nn.Tanh(), Block())
    return torch.nn.Sequential(layers), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0.1.norm",))
    torch.export.unflatten(ep)(*args)
    return torch.ones(1), args[0]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the input was 1, after a call of unflatten it is {got.item()}")
    raise SystemExit(bug)
