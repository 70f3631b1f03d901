# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "a preserved submodule that returns its buffer, updated in place, and assigns another value to it"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "seed"
# ///
"""`Child` adds to its buffer in place and returns it, but then assigns the negative of it to its name.

The assigned value is no result of the call, so an unflattened module has to write it back to the buffer where
the child computes it. It must not write it to the tensor that the child returns.
"""

import sys

import torch


class Child(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(1))

    def forward(self, x):
        old = self.total.add_(1)
        self.total = -old
        return old


def make():
    return torch.nn.Sequential(Child()), (torch.zeros(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False, preserve_module_call_signature=("0",))
    got = torch.export.unflatten(ep)(*args)  # first: eager updates the buffer that the program has too
    return model(*args), got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
