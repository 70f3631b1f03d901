# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: device error for x.data = y and x == y, where x is a plain attribute"
# variant-of = "export_turns_constant_into_meta_tensor"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "FakeTensorDeviceMismatchError",
#         "fake_tensor.py:wrap",
#         "fake_tensor.py:_find_common_device",
#         "fake_tensor.py:merge_devices",
#     ],
# ]
# fix = "refuse_to_replace_constants"
# upstream = ""
# at-fault = "torch/_export/non_strict_utils.py, _NonStrictTorchFunctionHandler: does not refuse it"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""All tensors are on the CPU, but export raises "found at least two devices, cpu and meta!".

Non-strict export does not make plain attributes fake. `self.k.data = x` with the fake input x makes the
user's own tensor a meta tensor, and a meta tensor cannot be compared with one on the CPU. Export should
refuse the assignment.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.k.data = x
        return x == self.k


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
        bug = "devices" in str(error)
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {error!r:.100}")
        raise SystemExit(bug) from None
    print("ok: neither eager nor export raises")
