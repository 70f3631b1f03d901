# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Once a program has been unflattened, it cannot be deep-copied"
# path = "nonstrict+deepcopy:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "_tensor.py:__deepcopy__"]]
# affected = "2.13.0"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__: self.meta[\"unflattened_module\"] = self"
# ///
"""copy.deepcopy(ep) works; after torch.export.unflatten(ep) it raises.

The metadata of the program is not copied but taken, and the unflattened module put into it: from then on the
program holds that module, and copying it runs into unflatten_cannot_be_copied.
"""

import copy
import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (torch.ones(1),)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    copy.deepcopy(ep)
    torch.export.unflatten(ep)
    try:
        copy.deepcopy(ep)
    except RuntimeError as error:
        print(f"BUG: after unflatten, copying the program raises {str(error).partition('.')[0]}")
        sys.exit(1)
    print("ok: the program can be copied after unflatten as well as before")
