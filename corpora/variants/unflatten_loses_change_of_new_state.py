# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: the second call of a preserved submodule reads a buffer without its in-place update"
# variant-of = "unflatten_asks_caller_for_what_a_child_wrote"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "unflatten_finds_what_preserved_modules_read"
# upstream = ""
# at-fault = "torch/export/unflatten.py, _IVals.update: graph.inserting_after(node)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`Cell` assigns a copy to its buffer, adds to the copy in place, and is called twice: eager gives 2,
unflatten 1.

What the second call reads, `_IVals.update` writes to the buffer in the first call. It writes it right after
the copy was made, and not again after the copy was changed. It should write after each change.
"""

import sys

import torch


class Cell(torch.nn.BatchNorm1d):
    def forward(self, x):
        self.running_mean = self.running_mean.clone()
        return self.running_mean.add_(x)


class Model(torch.nn.Sequential):
    def forward(self, x):
        self[0](x)
        return self[0](x) + 0


def make():
    return Model(Cell(1)), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("0",))
    return model(*args), torch.export.unflatten(ep)(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
