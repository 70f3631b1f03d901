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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/export/_trace.py, non-strict tracing: plain constants meet fake inputs as they are"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    expected = model(*args).stride()
    seen = torch.export.export(model, args, strict=False).module()(*args).stride()
    bug = expected != seen
    print(f"{'BUG' if bug else 'ok'}: eager gives strides {expected}, the exported program {seen}")
    raise SystemExit(bug)
