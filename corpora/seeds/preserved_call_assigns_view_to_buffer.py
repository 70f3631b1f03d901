# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "a preserved layer assigns a view, and what it computes without gradients, to its buffers"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "seed"
# ///
"""Track keeps its last input in a buffer, and counts in a no_grad block.

With a preserved call, unflatten has to write both back from the call: each call reads what the one before has
assigned. Two fixes were once wrong here: with one, unflatten raised an error; with the other, the second call
gave a wrong result.
"""

import sys
import warnings

import torch


class Track(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(4))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        before = self.last + self.count
        self.last = (x * 2).view(-1)
        with torch.no_grad():
            self.count = self.count + 1
        return before


def make():
    return torch.nn.Sequential(Track()), (torch.arange(4.0).view(2, 2),)


def show():
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("0",))
    unflattened = torch.export.unflatten(ep)
    return [model(*args) for _ in range(3)], [unflattened(*args) for _ in range(3)]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not all(map(torch.equal, expected, got))
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected[-1]}, unflatten gives {got[-1]}")
    raise SystemExit(bug)
