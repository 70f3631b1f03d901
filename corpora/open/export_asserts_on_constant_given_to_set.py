# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD291"
# title = "torch.export: AssertionError for x.set_(k) where k is a plain tensor attribute"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "`set_` with a tensor that is a plain attribute"
# topics = ["data-attribute", "constants"]
# cause = """
# Non-strict export does not make plain attributes fake; FakeTensorMode converts them where an operator reads
# them. For operators that change metadata it asserts that all arguments are fake. It should assert this only
# of the argument that is changed, the first."""
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
# at-fault = "torch/_subclasses/fake_tensor.py, validate_and_convert_non_fake_tensors: asks all arguments"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.set_(self.k)` only reads `k`, but export says: "Can't call metadata mutating ops on non-Fake Tensor
inputs".

Non-strict export does not make plain attributes fake; FakeTensorMode converts them where an operator reads
them. For operators that change metadata it asserts that all arguments are fake. It should assert this only of
the argument that is changed, the first.
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
