# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD387"
# title = "torch.export: 'Cannot access data pointer' if forward calls copy.deepcopy of a tensor or dict"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a forward that copies its dict of inputs, or one of its layers, before it changes it"
# topics = ["arguments", "in-place"]
# cause = """
# `Tensor.__deepcopy__` copies the storage of the tensor, in Python. The fake tensors of export have no data,
# so that reading its address raises. `_NonStrictTorchFunctionHandler`, which redirects what cannot be traced,
# should redirect it to detach and clone."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "Cannot access data pointer of Tensor"],
# ]
# unmasked = [
#   # A copy of a parameter requires grad in eager. Export does not record this flag.
#   ["outputs", "mismatch", "requires-grad", "fresh"],
# ]
# fix = "export_clones_for_deepcopy"
# upstream = "https://github.com/pytorch/pytorch/issues/99000"
# upstream-match = "symptom"
# upstream-searched = "2026-11-27"
# at-fault = """
# torch/_export/non_strict_utils.py, _NonStrictTorchFunctionHandler._override: does not redirect
# Tensor.__deepcopy__"""
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward copies its dict of inputs with copy.deepcopy, and changes the copy. Eager runs; export raises
RuntimeError: Cannot access data pointer of Tensor.

`Tensor.__deepcopy__` copies the storage of the tensor, in Python. The fake tensors of export have no data, so
that reading its address raises. `_NonStrictTorchFunctionHandler`, which redirects what cannot be traced,
should redirect it to detach and clone.
"""

import copy
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, batch):
        batch = copy.deepcopy(batch)
        batch["image"].sub_(0.5)
        return batch["image"] * batch["mask"]


def make():
    return Model(), ({"image": torch.ones(2, 3), "mask": torch.zeros(2, 3)},)


def show():
    model, args = make()
    torch.export.export(model, args)


def make_workaround():
    """Clone the tensors that forward changes."""

    class Cloning(Model):
        def forward(self, batch):
            batch = {name: value.clone() for name, value in batch.items()}
            batch["image"].sub_(0.5)
            return batch["image"] * batch["mask"]

    return Cloning(), ({"image": torch.ones(2, 3), "mask": torch.zeros(2, 3)},)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "Cannot access data pointer" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
