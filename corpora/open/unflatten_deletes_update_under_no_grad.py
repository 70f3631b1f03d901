# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten deletes an in-place update under no_grad, from the exported program too"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# affected = "2.13.0"
# at-fault = "torch/export/_remove_effect_tokens_pass.py, _remove_effect_tokens"
# ///
"""An update inside `with torch.no_grad()` is lost: eager gives [9, 1], unflatten gives [1, 1].

Export wraps the region in wrap_with_set_grad_enabled. Nobody reads its result, and
torch._library.utils.is_impure does not look into the body of a higher order operator, so that the
eliminate_dead_code in _remove_effect_tokens, the first thing unflatten does, takes the call for dead.
The pass works in place: after unflatten, `ep.module()` gives [1, 1] as well. Regions under
torch.autocast share the fate.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        with torch.no_grad():
            y[0] = 9
        return y


def make():
    return Model(), (torch.zeros(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    seen = torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)
    bug = not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {seen}")
    sys.exit(bug)
