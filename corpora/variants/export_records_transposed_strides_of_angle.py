# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records transposed strides for torch.angle of a complex tensor"
# variant-of = "export_predicts_wrong_strides_of_angle"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "stride", "aten.angle.default"]]
# fix = "angle_of_complex_numbers_is_contiguous"
# upstream = ""
# at-fault = "torch/_meta_registrations.py, meta_angle: empty_like of a complex tensor"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""torch.angle of a transposed complex tensor is contiguous. The graph records transposed strides.

The kernel for complex numbers makes a contiguous result. `meta_angle` uses `empty_like`, which keeps the
strides. A compiler that plans views by the recorded strides makes mistakes.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return x.t().angle()


def make():
    return Model(), (torch.ones(3, 2, dtype=torch.complex64),)


def show():
    model, args = make()
    ep = torch.export.export(model, args)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.angle.default)
    return model(*args).stride(), node.meta["val"].stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the graph says {got}")
    raise SystemExit(bug)
