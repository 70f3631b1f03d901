# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: RuntimeError for a custom operator whose in-place write changes no value"
# severity = "B"
# severity-because = "a custom operator that clips or masks, and an example for which it has nothing to do"
# cause = """
# MutationChecker takes an argument that is declared as written, and whose values stay, for a wrong schema."""
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
# affected = ["2.13.0"]
# upstream = ""
# at-fault = "torch/_library/utils.py, MutationChecker.check: demands that a declared write changes a value"
# ///
"""A custom operator clips in place; where nothing is too large, draft_export says its schema is wrong."""

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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    torch.export.export(model, args)
    try:
        torch.export.draft_export(model, args)
        bug, said = False, "takes it"
    except RuntimeError as error:
        if "empirically wrong" not in str(error):
            raise
        bug, said = True, f"raises: {str(error).partition(', but')[2][:60]}"
    print(f"{'BUG' if bug else 'ok'}: export takes the model, draft_export {said}")
    raise SystemExit(bug)
