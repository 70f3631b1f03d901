# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: \"setStorage: ... are out of bounds\" for parameters cut from one flat tensor"
# severity = "B"
# severity-because = "weights kept in one flat tensor, or two inputs that are pieces of one, and draft_export"
# cause = """
# MetaConverter.meta_tensor shares the real storage of the first tensor of a memory among all of them, but
# that has only the places that the first one reads."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError",
#      "fake_tensor.py:from_real_tensor", "meta_utils.py:__call__", "meta_utils.py:meta_tensor"],
# ]
# fix = "draft_export_copies_the_whole_memory"
# upstream = ""
# affected = ["2.13.0"]
# at-fault = "torch/_subclasses/meta_utils.py, meta_tensor: r.real_tensor = torch.empty_strided"
# ///
"""Weight and bias are pieces of one flat tensor, as optimizers and distributed training lay them out.

A parameter is no view of the tensor that it is made of. So draft_export makes a real tensor for the weight,
with memory for four numbers, and takes this memory for that of the bias too, which begins behind it. Non-
strict and strict export accept the model.
"""

import sys
import warnings

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        flat = torch.ones(6)
        self.weight = torch.nn.Parameter(flat[:4].view(2, 2))
        self.bias = torch.nn.Parameter(flat[4:])

    def forward(self, x):
        return x @ self.weight + self.bias


def make():
    return Model(), (torch.ones(3, 2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    warnings.simplefilter("ignore")
    model, args = make()
    expected = model(*args)
    try:
        seen = torch.export.draft_export(model, args).module()(*args)
    except RuntimeError as error:
        if "setStorage" not in str(error):
            raise
        seen = repr(error)
    bug = not isinstance(seen, torch.Tensor) or not torch.equal(seen, expected)
    print("BUG:" if bug else "ok:", f"eager gives {expected}, draft_export gives {seen}")
    raise SystemExit(bug)
