# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten deletes an in-place update of an input under no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# affected = "2.13.0"
# at-fault = "torch/export/_remove_effect_tokens_pass.py, _remove_effect_tokens"
# ///
"""An update inside `with torch.no_grad()` is lost: the caller's tensor is 2 after eager, 1 after unflatten.

As in unflatten_deletes_update_under_no_grad.py, but of an input that the outputs do not depend on: the
wrap_with_set_grad_enabled that holds the update is deleted as dead code.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x.mul_(2)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    (ours,), (theirs,) = make()[1], make()[1]
    model(ours)
    unflattened(theirs)
    bug = not torch.equal(ours, theirs)
    print(f"{'BUG' if bug else 'ok'}: the input is {ours} after eager, {theirs} after unflatten")
    sys.exit(bug)
