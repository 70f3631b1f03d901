# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records storage offset 0 for a constant that flatten returns unchanged"
# variant-of = "export_updates_constants_for_real"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "offset", "aten.flatten.using_ints"]]
# fix = "extract_val_keeps_offset"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, extract_val: empty_strided of shape and stride alone"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`part` is the second element of its memory; the node that flattens it is said to begin at the first.

flatten returns a tensor of one dimension itself, and a constant is not made fake, so that the result is a
real tensor, for which extract_val makes a new fake one with its shape and strides.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = torch.zeros(2)[1:]

    def forward(self, x):
        return x + self.part.flatten()


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    graph = torch.export.export(model, args, strict=False).graph
    (node,) = graph.find_nodes(op="call_function", target=torch.ops.aten.flatten.using_ints)
    return model.part.storage_offset(), node.meta["val"].storage_offset()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the offset of part is {expected}, recorded is {got}")
    raise SystemExit(bug)
