# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD128"
# title = "torch.export: a tensor cached in a new attribute stays on the model as a fake tensor"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a tensor cached by the first call: after export, the model returns fake tensors"
# evidence = ["zoo:transformers/segformer", "https://github.com/pytorch/pytorch/issues/155114"]
# topics = ["attributes", "kv-cache"]
# cause = """
# Non-strict export restores all attributes after tracing, with `module.__dict__.update(old)`. This does not
# delete attributes that are new. The cached fake tensor stays on the model."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "attribute"]]
# fix = "export_removes_new_attributes"
# upstream = "https://github.com/pytorch/pytorch/issues/155114"
# upstream-match = "mechanism"
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, _restore_all_module_attributes"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model makes an attribute in its first call, as a cache. If it was exported first, it returns fake tensors
in eager.

Non-strict export restores all attributes after tracing, with `module.__dict__.update(old)`. This does not
delete attributes that are new. The cached fake tensor stays on the model.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        if not hasattr(self, "cache"):
            self.cache = torch.arange(2.0)
        return x + self.cache


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return make()[0](*args), model(*args)


def make_workaround():
    """Make the tensor in __init__, and register it as a buffer."""

    class Ready(Model):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", torch.arange(2.0), persistent=False)

        def forward(self, x):
            return x + self.cache

    return Ready(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, after export it gives {got}")
    raise SystemExit(bug)
