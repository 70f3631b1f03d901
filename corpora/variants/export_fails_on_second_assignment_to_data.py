# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "a constant cannot be assigned to twice by .data, the second time what was computed from it"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "proxy_tensor.py:__torch_function__",
#         "proxy_tensor.py:__torch_function__",
#         "non_strict_utils.py:__torch_function__",
#     ],
# ]
# fix = "refuse_to_replace_constants"
# upstream = ""
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: constants are not made fake"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""In eager `k` takes the data of the input, then its own, rounded; export finds "incompatible tensor type".

Assigning the fake input to the .data of a constant, which is not fake, makes `k.device` meta; `k.round()` is
then a fake tensor on meta, and set_data takes none for a tensor with the dispatch keys of the CPU, which `k`
still has.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.k.data = x
        self.k.data = self.k.round()
        return x + 1


def make():
    model = Model()
    model.k = torch.zeros(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        bug = "incompatible tensor type" in str(error)
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: neither eager nor export raises")
