# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD292"
# title = "torch.export: AssertionError for t_() on a plain tensor attribute, instead of a clear refusal"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "an in-place transpose of a tensor that is a plain attribute"
# topics = ["constants", "in-place", "views"]
# cause = """
# Non-strict export does not make plain attributes fake, and FakeTensorMode asserts that operators that
# change metadata get fake tensors only. An exported program cannot record such an update. The error should
# be one of the user, and ask to register the tensor as a buffer."""
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
# fix = "refuse_metadata_mutation_of_constants"
# upstream = ""
# at-fault = "torch/_subclasses/fake_tensor.py, validate_and_convert_non_fake_tensors: raise AssertionError"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Export of `self.table.t_()`, where `table` is a plain tensor attribute, fails an internal assertion.

Non-strict export does not make plain attributes fake, and FakeTensorMode asserts that operators that change
metadata get fake tensors only. An exported program cannot record such an update. The error should be one of
the user, and ask to register the tensor as a buffer.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.ones(1, 2)

    def forward(self, x):
        self.table.t_()
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except (AssertionError, torch._dynamo.exc.UserError) as error:
        bug = isinstance(error, AssertionError) and "call metadata mutating ops" in str(error)
        print(f"{'BUG' if bug else 'ok'}: eager raises nothing, export raises {error!r}")
        raise SystemExit(bug) from None
    print("ok: neither eager nor export raises")
