# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "strict export of x.data with a dynamic size makes a program that cannot be unflattened"
# path = "strict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "TypeError", "unflatten.py:unflatten", "unflatten.py:__init__"]]
# affected = "2.13.0"
# at-fault = "torch/export/_trace.py, _export_for_training: fake constants are looked for if not strict"
# ///
"""The other face of strict_bakes_in_a_fake_tensor.py: the fake tensor that the program holds has symbols
for sizes, and UnflattenedModule.__init__ puts the sizes of constants into a dict key (_id): no SymInt has a
hash.
"""

import sys
import warnings

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.data + 1


def make():
    return Model(), (torch.ones(2),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim.AUTO}}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model, args = make()
    ep = torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), strict=True)
    try:
        seen = torch.export.unflatten(ep)(*args)
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
    bug = not isinstance(seen, torch.Tensor)
    print(f"{'BUG' if bug else 'ok'}: eager returns {model(*args)}, unflatten {seen}")
    sys.exit(bug)
