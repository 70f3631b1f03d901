# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: of two updates of a buffer by a preserved submodule, its parent reads the first only"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# unmasked = [["structure", "mismatch", "steps", "extra", "operator"]]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _IVals.update: writes to node.args[0]"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` adds 1 to a buffer twice, its parent once: the parent should read 3, but reads 2 after unflatten.

The parent reads the buffer between the updates. For this, `_IVals.update` writes each new value where it is
computed, but to the first operand of the node and not to the buffer. For the second `add`, that operand is
the result of the first. It should write to the buffer.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        self.count.add_(1)
        self.count.add_(1)  # first difference
        return x + 1


class Model(torch.nn.Module):
    def forward(self, x):
        x = self.child(x)
        self.child.count.add_(1)
        return x + self.child.count


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
