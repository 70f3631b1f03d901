# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a preserved submodule reads a wrong value for an attribute that its parent has set"
# variant-of = "unflatten_reads_operand_in_preserved_module"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# # What only a preserved submodule has computed is computed again where it is read: no signature returns it.
# unmasked = [
#   ["structure", "mismatch", "steps", "extra", "operator"],
#   ["structure", "mismatch", "steps", "owner"], ["structure", "mismatch", "steps", "arguments"],
#   ["structure", "mismatch", "steps", "order"],
#   ["structure", "mismatch", "steps", "extra", "wrap_with_set_grad_enabled"],
#   ["outputs", "crash", "run", "TypeError", "got multiple values for argument"],
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
"""The parent sets `child.scaled = x * 10`, and the preserved child reads it. Unflattened, it reads x instead.

A preserved submodule gets only its arguments. `_IVals.read` takes everything else that it reads for an update
of state, and reads the first operand of the node, here x of `x * 10`.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + self.scaled  # first difference


class Model(torch.nn.Module):
    def forward(self, x):
        self.child.scaled = x * 10
        return self.child(x)


def make():
    model = Model()
    model.child = Child()
    model.child.scaled = torch.zeros(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
