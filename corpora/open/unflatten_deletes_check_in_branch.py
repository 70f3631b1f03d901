# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten deletes a torch.cond whose branches check their input, from the exported program too"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "missing", "cond"]]
# affected = "2.13.0"
# at-fault = "torch/export/_remove_effect_tokens_pass.py, _remove_effect_tokens"
# ///
"""An input that torch._check refuses: eager and `ep.module()` raise, the unflattened module goes on.

Nobody reads the result of torch.cond, and the eliminate_dead_code in _remove_effect_tokens does not look into
its branches, where an _assert_scalar is. The cause is that of unflatten_deletes_update_under_no_grad.
"""

import sys
import warnings

import torch
from torch import nn


def check(x):
    large = (x > 100).sum().item()
    torch._check(large < 2)
    return x * 2


class Model(nn.Module):
    def forward(self, x):
        torch.cond(x.sum() > 0, check, check, (x,))
        return x + 1


def make():
    return Model(), (torch.ones(2),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    refused = {}
    for name, module in (
        ("eager", model),
        ("module", torch.export.export(model, args, strict=False).module()),
        ("unflatten", torch.export.unflatten(torch.export.export(model, args, strict=False))),
    ):
        try:
            module(torch.full((2,), 200.0))
            refused[name] = False
        except RuntimeError:
            refused[name] = True
    bug = refused["eager"] != refused["unflatten"]
    print(f"{'BUG' if bug else 'ok'}: whether the check raises: {refused}")
    sys.exit(bug)
