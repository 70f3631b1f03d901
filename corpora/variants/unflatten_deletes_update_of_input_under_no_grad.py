# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten deletes an in-place update of an input under no_grad"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "value"]]
# fix = "effect_removal_keeps_regions"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/_remove_effect_tokens_pass.py, _remove_effect_tokens"
# ///
"""An update inside `with torch.no_grad()` is lost: the caller's tensor is 2 after eager, 1 after unflatten.

The outputs do not depend on the input: the wrap_with_set_grad_enabled that holds the update is deleted as
dead code.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        with torch.no_grad():
            x.mul_(2)


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, (x,) = make()
    torch.export.unflatten(torch.export.export(model, (x.clone(),)))(x)
    bug = x.item() != 2
    print("BUG:" if bug else "ok:", f"the input is 2.0 after eager, {x.item()} after unflatten")
    raise SystemExit(bug)
