# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: reads the input instead of a buffer that a preserved submodule computes with out="
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_finds_what_preserved_modules_read"
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
"""A preserved child computes 10 with `out=self.running_mean`, and its parent reads the buffer. Unflattened,
it reads the input x, 1.

`_IVals.read` assumes that an operator writes to its first argument. With out= it writes to a keyword
argument.
"""

import sys

import torch


class Child(torch.nn.BatchNorm1d):
    def forward(self, x):
        torch.mul(x, 10, out=self.running_mean)


class Model(torch.nn.Sequential):
    def forward(self, x):
        self[0](x)
        return self[0].running_mean + 0


def make():
    return Model(Child(1)), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
