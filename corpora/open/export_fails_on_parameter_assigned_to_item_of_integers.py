# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD108"
# title = "torch.export: RuntimeError if a scalar parameter is assigned to a row of an integer tensor"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a parameter that requires gradients written into integers"
# topics = ["dtypes", "in-place"]
# cause = """
# derivatives.yaml calls `fill_.Tensor` differentiable also for integers, so that x gets a gradient history.
# From then on, a view of x raises, in eager as well. This model makes none, but export makes one for the
# assignment. An integer tensor should get no history."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     ["outputs", "crash", "export", "RuntimeError", "_compile.py:inner"],
# ]
# unmasked = [["outputs", "mismatch", "requires-grad", "fresh"]]
# fix = "items_of_integers_take_no_gradient"
# upstream = ""
# at-fault = "tools/autograd/derivatives.yaml, fill_.Tensor: differentiable for integers too"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x[0] = self.w` writes a scalar parameter into a row of an integer tensor. Eager runs; export says
"Autograd not support dtype: Long".

derivatives.yaml calls `fill_.Tensor` differentiable also for integers, so that x gets a gradient history.
From then on, a view of x raises, in eager as well. This model makes none, but export makes one for the
assignment. An integer tensor should get no history.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        x = x * 2
        x[0] = self.w
        return x


def make():
    return Model(), (torch.zeros(1, 1, dtype=torch.int64),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "Autograd not support dtype: Long" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print(f"ok: eager gives {expected}, export {got}")
