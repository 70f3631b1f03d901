# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD209"
# title = "torch.export(strict=True): x.shape after squeeze_ returns the shape from before"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a size read after squeeze_: silently that from before"
# topics = ["in-place"]
# cause = """
# Dynamo stores sizes and strides next to the fake tensor. `_sync_if_inplace_mutation` updates them after an
# in-place method only if another tensor was among its arguments. It should also do so for squeeze_,
# transpose_ and the like."""
# path = "strict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "dynamo_reads_sizes_after_in_place_views"
# upstream = "https://github.com/pytorch/pytorch/issues/185888"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/187890"
# at-fault = "torch/_dynamo/variables/tensor.py, _sync_if_inplace_mutation: if has_tensor_arg"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "fixed"
# "2.15.0" = "fixed"
# ///
"""After `x.squeeze_(0)`, `x.shape[0]` is 2 in eager. The program uses the old size, 1.

Dynamo stores sizes and strides next to the fake tensor. `_sync_if_inplace_mutation` updates them after an
in-place method only if another tensor was among its arguments. It should also do so for squeeze_, transpose_
and the like.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        x.squeeze_(0)
        return x * x.shape[0]  # first difference


def make():
    return Model(), (torch.ones(1, 2),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, strict=True).module()(*args)


def make_workaround():
    """Call squeeze instead of squeeze_."""

    class Squeezing(Model):
        def forward(self, x):
            x = x + 1
            x = x.squeeze(0)
            return x * x.shape[0]

    return Squeezing(), (torch.ones(1, 2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
