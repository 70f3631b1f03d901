# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: if a preserved submodule updates a buffer twice, its parent sees the first update only"
# variant-of = "unflatten_reads_operand_in_preserved_module"
# path = "nonstrict+preserve+decompose:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# unmasked = [["structure", "mismatch", "steps", "extra", "operator"]]
# fix = "unflatten_writes_each_value_to_the_state"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _IVals.update: (node.args[0], node)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`child` adds 1 to a buffer twice, and its parent once more: eager gives 2 + 3, unflatten gives 2 + 2.

What the parent reads between, it reads from the buffer, and _IVals.update is to write it there. It writes to
the first operand of the value instead: the first sum goes to the buffer, the second into the first sum.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        self.count.add_(1)
        self.count.add_(1)
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
