# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD267"
# title = "unflatten: a model with a preserved norm that casts to float32 overwrites its input"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "preserved norms that cast, as in Llama: each call overwrites the input of the model"
# evidence = ["zoo:transformers/llama"]
# topics = ["norms", "in-place"]
# cause = """
# The norm casts to float32, which returns the same tensor, so that the block reads a value that only the norm
# has computed. `_IVals.read` takes such a value for an update of the input: it follows the first operands
# back to the input, and `_IVals.update` writes the results of these operators there. It should read the value
# itself."""
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# # The caller reads the operand, not the cast of it, which is the same tensor.
# unmasked = [
#   # A weight that functional_call replaces, in a submodule that is swapped: no original can take it.
#   ["outputs", "crash", "run", "TypeError", "takes positional arguments but were given"],
#   # The same, in a submodule that is called alone: it needs the weight as one more argument.
#   ["outputs", "crash", "run", "RuntimeError", "Expected positional argument for parameter but one was"],
#   ["structure", "mismatch", "steps", "operands", "result", "result"],
#   ["structure", "mismatch", "steps", "shared-graph"],
#   # A weight that parametrize.cached() keeps for two calls is computed in each: gradients add up otherwise.
#   ["gradients", "mismatch", "rounding", "state"],
# ]
# fix = "unflatten_passes_what_is_no_mutation"
# upstream = "https://github.com/pytorch/pytorch/pull/149206"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _IVals.read: mf.remap_input(node.args[0])"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A block adds the result of its norm to its input, as in Llama. With the norm preserved, each call of the
unflattened model overwrites its input.

The norm casts to float32, which returns the same tensor, so that the block reads a value that only the norm
has computed. `_IVals.read` takes such a value for an update of the input: it follows the first operands back
to the input, and `_IVals.update` writes the results of these operators there. It should read the value
itself.
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


def make_workaround():
    """Let the norm cast to a new tensor."""

    class Copying(Norm):
        def forward(self, x):
            return x.to(torch.float32, copy=True) * 10

    block = Block()
    block.norm = Copying()
    layers = torch.nn.Sequential(torch.nn.Tanh(), block)
    return torch.nn.Sequential(layers), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the input was 1, after a call of unflatten it is {got.item()}")
    raise SystemExit(bug)
