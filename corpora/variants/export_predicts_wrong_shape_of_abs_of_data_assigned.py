# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "after an assignment to .data the graph records for abs a shape that it does not have"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "shape", "aten.abs.default"]]
# fix = "record_assignment_to_data"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`y.data = x[:1]` gives `y` one element; the program takes the absolute values of two, and says it is one.

The setter changes the fake tensor, from which the metadata of later nodes is made, but its proxy still stands
for the old one. The values that come out agree.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        y.data = x[:1]
        return y.abs().amin()


def make():
    return Model(), (torch.ones(2),)


def show():
    ep = torch.export.export(*make(), strict=False)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.abs.default)
    return node.args[0].meta["val"].shape, node.meta["val"].shape


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: abs is given {expected}, and recorded as {got}")
    raise SystemExit(bug)
