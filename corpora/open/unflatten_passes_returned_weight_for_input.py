# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD264"
# title = "unflatten: the second call of a preserved submodule that returns its weight uses it as input"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a preserved submodule that returns its weight, called twice"
# topics = ["tied-weights", "shared-modules"]
# cause = """
# At first, unflatten passes all state as arguments. `_sink_params` removes these arguments by their names.
# After the first call, the weight is a result of this call and has another name, so that it stays among the
# arguments, in front of the input."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_sinks_arguments_by_place"
# upstream = "https://github.com/pytorch/pytorch/pull/127607"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, _sink_params: n.name not in module_id_to_inputs_removed"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved layer returns its result and its weight, and is called twice. The second call uses the weight
as its input.

At first, unflatten passes all state as arguments. `_sink_params` removes these arguments by their names.
After the first call, the weight is a result of this call and has another name, so that it stays among the
arguments, in front of the input.
"""

import sys

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([3.0]))

    def forward(self, x):
        return x * self.weight, self.weight  # first difference


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()

    def forward(self, x):
        x, _ = self.scale(x)
        x, _ = self.scale(x)
        return x


def make():
    return Model(), (torch.tensor([2.0]),)


def show():
    model, args = make()
    expected = model(*args)
    program = torch.export.export(model, args, preserve_module_call_signature=("scale",))
    return expected, torch.export.unflatten(program)(*args)


def make_workaround():
    """Return the result only, and read the weight where it is needed."""

    class Single(Scale):
        def forward(self, x):
            return x * self.weight

    class Calling(Model):
        def __init__(self):
            super().__init__()
            self.scale = Single()

        def forward(self, x):
            return self.scale(self.scale(x))

    return Calling(), (torch.tensor([2.0]),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.item()}, unflatten gives {got.item()}")
    raise SystemExit(bug)
