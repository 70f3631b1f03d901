# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export turns constant > x into x < constant, and so changes the strides of the result"
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
"""While export traces, x is a FakeTensor and the constant is a plain tensor: Python asks the subclass first.

So `self.k > x` calls `x.__lt__(self.k)`, and the graph holds lt(x, k). The values are the same, but the
layout of the result follows the first operand: eager gives the strides of k, the exported program those of x.
No fix: which operand came first is lost before torch is asked, unless constants are made fake as well.
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
