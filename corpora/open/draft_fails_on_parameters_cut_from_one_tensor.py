# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD069"
# title = "draft_export: \"setStorage: ... are out of bounds\" for parameters cut from one flat tensor"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "weights kept in one flat tensor, or two inputs that are pieces of one, and draft_export"
# topics = ["tied-weights", "views"]
# cause = """
# draft_export makes a real tensor for the weight, with memory for its four numbers only. The bias has the
# same storage, so it gets the same memory, and lies behind its end. `meta_tensor` should copy the whole
# storage. torch.export accepts the model."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError",
#      "fake_tensor.py:from_real_tensor", "meta_utils.py:__call__", "meta_utils.py:meta_tensor"],
# ]
# fix = "draft_export_copies_the_whole_memory"
# upstream = "https://github.com/pytorch/pytorch/pull/185014"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/185014"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_subclasses/meta_utils.py, meta_tensor: r.real_tensor = torch.empty_strided"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""Weight and bias are pieces of one flat tensor, as optimizers and distributed training make them.
draft_export raises.

draft_export makes a real tensor for the weight, with memory for its four numbers only. The bias has the same
storage, so it gets the same memory, and lies behind its end. `meta_tensor` should copy the whole storage.
torch.export accepts the model.
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


def show():
    warnings.simplefilter("ignore")
    model, args = make()
    return model(*args), torch.export.draft_export(model, args).module()(*args)


def make_workaround():
    """Copy the pieces before making them parameters."""

    class Copying(Model):
        def __init__(self):
            super().__init__()
            flat = torch.ones(6)
            self.weight = torch.nn.Parameter(flat[:4].view(2, 2).clone())
            self.bias = torch.nn.Parameter(flat[4:].clone())

    return Copying(), (torch.ones(3, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "setStorage" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, draft_export raises {error!r:.100}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, draft_export gives {got}")
    raise SystemExit(bug)
