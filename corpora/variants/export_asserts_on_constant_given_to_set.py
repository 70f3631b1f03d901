# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: AssertionError if set_ gets a tensor that is a plain attribute"
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
#         "AssertionError",
#         "fake_tensor.py:_dispatch_impl",
#         "fake_tensor.py:validate_and_convert_non_fake_tensors",
#         "fake_tensor.py:validate",
#     ],
# ]
# fix = "fake_mode_converts_source_of_set"
# upstream = ""
# at-fault = "torch/_subclasses/fake_tensor.py, validate: does not ask which argument the op changes"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`set_` changes `x`, a fake tensor, and only reads `k`, which is a real one: an assertion fails.

FakeTensorMode makes real arguments fake on the way. Where an operator changes metadata it asserts that there
are none, and asks this of all arguments, not of the one that is changed.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        x.set_(self.k)
        return x * 2


def make():
    model = Model()
    model.k = torch.zeros(1)
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except AssertionError as error:
        if "call metadata mutating ops" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, the exported program raises {error!r:.100}")
    print(f"ok: eager gives {expected}, the exported program {got}")
