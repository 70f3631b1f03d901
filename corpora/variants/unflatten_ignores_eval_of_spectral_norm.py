# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: after eval(), spectral_norm still updates its vectors"
# variant-of = "unflatten_ignores_eval"
# path = "nonstrict:unflatten@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "eval"]]
# trigger = ["hierarchy.spectral_norm", "model.training"]
# upstream = "https://github.com/pytorch/pytorch/issues/103681"
# upstream-match = "symptom"
# at-fault = "torch/export/unflatten.py, UnflattenedModule: takes train and eval from nn.Module"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A layer with spectral_norm is exported in train mode. After `eval()`, the unflattened module still updates
the vectors of spectral_norm.

The mode is fixed at export. The result of `ep.module()` refuses eval() and train() with NotImplementedError.
UnflattenedModule has those of nn.Module, which set a flag that nothing reads. It should refuse them, too. No
operator of this graph has a training flag: in train mode, spectral_norm runs more operators.
"""

import sys

import torch
from torch import nn


def make():
    torch.manual_seed(0)
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))
    return nn.Sequential(layer), (torch.ones(1, 8),)


def show():
    eager, args = make()
    unflattened = torch.export.unflatten(torch.export.export(*make()))
    eager.eval()(*args)
    unflattened.eval()(*args)
    name = "0.parametrizations.weight.0._u"
    return eager.get_buffer(name), unflattened.get_buffer(name)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except NotImplementedError as error:
        print(f"ok: unflatten refuses eval(): {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: after eval(), the vector is {expected} in eager, {got} in unflatten")
    raise SystemExit(bug)
