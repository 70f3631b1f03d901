# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: `self.k > x` is traced as `x < self.k`, so that the result has other strides"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "stride"]]
# trigger = ["op.compare", "state.constant"]
# upstream = ""
# at-fault = "torch/export/_trace.py, non-strict tracing: plain constants meet fake inputs as they are"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`self.k > x`, where k is a plain tensor attribute: the result has the strides of k in eager, and those of x
in the program. So `(self.k > x).view(6)`, which works in eager, makes export raise ValueError.

Non-strict export does not make plain attributes fake. For a comparison of a tensor with a tensor subclass,
such as a fake tensor, Python asks the subclass first: it calls `x.__lt__(self.k)`. So the graph has lt(x, k).
With a buffer for k, the strides are right: export should make plain attributes fake as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return self.k > x


def make():
    model = Model()
    model.k = torch.zeros(2, 3)
    return model, (torch.ones(3, 2).t(),)


def show():
    model, args = make()
    return model(*args).stride(), torch.export.export(model, args, strict=False).module()(*args).stride()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the exported program {got}")
    raise SystemExit(bug)
