# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD116"
# title = "torch.export: StopIteration if a tensor attribute is detached and the result is not used"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a tensor attribute that is detached and not used"
# topics = ["constants", "unused-results"]
# cause = """
# Dead code elimination removes `detach` (`_is_impure` of torch/export/_trace.py keeps most other operators),
# and leaves a get_attr node without users. `_unused_constant` takes its first user with `next()`, without
# asking whether there is one."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "StopIteration",
#         "lift_constants_pass.py:_materialize_and_lift_constants",
#         "lift_constants_pass.py:lift_constants_pass",
#         "lift_constants_pass.py:_unused_constant",
#     ],
# ]
# fix = "remove_constants_without_users"
# upstream = "https://github.com/pytorch/pytorch/pull/153800"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/lift_constants_pass.py, _unused_constant: next() of no users"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""forward calls `self.table.detach()` and does not use the result. Export raises StopIteration without a
message.

Dead code elimination removes `detach` (`_is_impure` of torch/export/_trace.py keeps most other operators),
and leaves a get_attr node without users. `_unused_constant` takes its first user with `next()`, without
asking whether there is one.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.table.detach()
        return x + 1


def make():
    model = Model()
    model.table = torch.ones(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except StopIteration as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
