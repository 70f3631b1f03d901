# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD300"
# title = "torch.export: the graph records storage offset 0 for an in-place op on a plain tensor attribute"
# harm = "cosmetic"
# reach = "contrived"
# reach-because = "an update of a plain attribute that is a view of other memory"
# topics = ["constants", "views"]
# cause = """
# Non-strict export does not make plain attributes fake, so that `self.count.add_(x)` returns a real tensor.
# `extract_val` records it as a new fake tensor of the same shape and strides, without the storage offset. It
# should keep the offset."""
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "offset", "aten.add_.Tensor"]]
# fix = "extract_val_keeps_offset"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, extract_val: empty_strided without the storage offset"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`self.count` begins at the second element of its memory. The graph says at the first.

Non-strict export does not make plain attributes fake, so that `self.count.add_(x)` returns a real tensor.
`extract_val` records it as a new fake tensor of the same shape and strides, without the storage offset. It
should keep the offset.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = torch.zeros(2)[1:]

    def forward(self, x):
        return x + self.count.add_(x)


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    graph = torch.export.export(model, args, strict=False).graph
    (node,) = graph.find_nodes(op="call_function", target=torch.ops.aten.add_.Tensor)
    return model.count.storage_offset(), node.meta["val"].storage_offset()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the offset of count is {expected}, recorded is {got}")
    raise SystemExit(bug)
