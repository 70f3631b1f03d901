# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD062"
# title = "draft_export: RuntimeError for a custom operator that may write, but does not for the example"
# harm = "clear error"
# reach = "occasional"
# reach-because = "a custom operator that clips or masks, and an example for which it has nothing to do"
# topics = ["custom-operators", "in-place"]
# cause = """
# `mutates_args={"x"}` allows the operator to write to x. `MutationChecker.check` demands that the values of x
# do change. A write that changes nothing should be allowed."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "fake_tensor.py:_dispatch_impl",
#         "utils.py:check",
#         "utils.py:check_one",
#     ],
# ]
# fix = "declared_writes_may_change_nothing"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_library/utils.py, MutationChecker.check: demands that a declared write changes a value"
# workaround = "none: give draft_export an example for which the operator has something to change"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A custom operator clips in place. If the example has nothing to clip, draft_export says that its schema is
wrong.

`mutates_args={"x"}` allows the operator to write to x. `MutationChecker.check` demands that the values of x
do change. A write that changes nothing should be allowed.
"""

import sys

import torch
from torch import nn


@torch.library.custom_op("lib_of_clips::clip", mutates_args={"x"})
def clip(x: torch.Tensor) -> None:
    x.clamp_(max=1.0)


class Model(nn.Module):
    def forward(self, x):
        x = x * 1.0
        clip(x)
        return x


def make():
    return Model(), (torch.zeros(3),)


def show():
    model, args = make()
    torch.export.export(model, args)
    torch.export.draft_export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "empirically wrong" not in str(error):
            raise
        sys.exit(f"BUG: export takes the model, draft_export raises: {error!r:.100}")
    print("ok: export takes the model, draft_export takes it")
