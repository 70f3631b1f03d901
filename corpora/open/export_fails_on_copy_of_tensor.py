# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD093"
# title = "torch.export: AssertionError for copy.copy of a tensor"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "copy.copy(x) in forward, in place of x.clone(), mostly where a cache is copied"
# topics = ["copies"]
# cause = """
# `Tensor.__reduce_ex__` rebuilds the fake tensor with device cpu, and `FakeTensor.__new__` asserts that the
# device is meta. A copy of a tensor should be recorded, for example as detach."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "AssertionError",
#         "proxy_tensor.py:snapshot_fake",
#         "fake_impls.py:fast_detach",
#         "fake_tensor.py:__new__",
#     ],
# ]
# fix = "export_copies_tensors_as_detached"
# upstream = "https://github.com/pytorch/pytorch/issues/171977"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/184963"
# at-fault = "torch/_tensor.py, Tensor.__reduce_ex__: no case for a fake tensor that is traced"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward copies its input with `copy.copy`. Non-strict export fails an internal assertion.

`Tensor.__reduce_ex__` rebuilds the fake tensor with device cpu, and `FakeTensor.__new__` asserts that the
device is meta. A copy of a tensor should be recorded, for example as detach.
"""

import copy
import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return copy.copy(x) + 1


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the exported program {got}")
