# /// script
# requires-python = ">=3.10"
# dependencies = ["torch>=2.5"]
#
# [tool.exportdiff]
# title = "a residual of what a preserved layer has cast to the dtype that it has"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "seed"
# ///
"""Norm casts its input to float32, as in T5 and Mixtral; a cast to the dtype that it has returns its input.

What the callers then add to is, in the graph, the result of the cast, which `norm` has computed and does not
return. In an unflattened module they must read their own tensor in its place, and not compute it once more:
it depends on random numbers, and on memory that is written in place.
"""

import sys
import warnings

import torch


class Norm(torch.nn.Module):
    def forward(self, x):
        x = x.to(torch.float32)
        return x / x.abs().max()


class Shuffle(torch.nn.Module):
    def forward(self, x):
        back = torch.empty_like(x)
        back[:] = x.flip(0)
        return back + torch.rand(3)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
        self.shuffle = Shuffle()

    def forward(self, x):
        return x + self.shuffle(self.norm(x))


def make():
    return torch.nn.Sequential(torch.nn.Sequential(Block(), Block())), (torch.arange(3.0),)


def show():
    warnings.simplefilter("ignore")
    model, args = make()
    names = tuple((name for name, _ in model.named_modules() if name))
    ep = torch.export.export(model, args, preserve_module_call_signature=names)
    unflattened = torch.export.unflatten(ep)
    torch.manual_seed(0)
    expected = model(*args)
    torch.manual_seed(0)
    return expected, unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
