# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a preserved submodule reads a buffer without the update that its parent made before"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# unmasked = [["structure", "mismatch", "steps", "extra", "operator"]]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: self.ivals.update(seen_modules.values())"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The root adds 1 to a buffer before and after `child` reads it. After unflatten, `child` reads 0 instead of
1.

Decomposed, the program writes the buffer once, at its end. So that preserved submodules read what they
should, `_IVals.update` writes each value to the buffer where it is computed, but UnflattenedModule calls it
for submodules only. It should do so for the root as well.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + self.count  # first difference


class Model(torch.nn.Module):
    def forward(self, x):
        self.child.count.add_(1)
        x = self.child(x)
        self.child.count.add_(1)
        return x


def make():
    model = Model()
    model.child = Child()
    model.child.register_buffer("count", torch.zeros(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    unflattened = torch.export.unflatten(ep.run_decompositions())
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
