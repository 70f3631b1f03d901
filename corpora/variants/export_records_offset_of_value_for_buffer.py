# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: the graph records a wrong storage offset for the copy_ into an assigned buffer"
# variant-of = "export_fails_on_input_assigned_to_buffer"
# path = "nonstrict:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "offset", "aten.copy_.default"]]
# fix = "write_back_clones_of_assigned_buffers"
# upstream = ""
# at-fault = "torch/export/_trace.py, _export_to_aten_ir_make_fx: copy_ gets the metadata of its source"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The buffer `part` begins at the second element of its memory. The graph records that copy_ into it returns
a tensor at the first.

Export adds a copy_ for `self.part = self.part.clone()`, and gives the node the metadata of the clone
(`new_node.meta = name_node.meta`). copy_ returns the buffer, so that it should have the metadata of the
buffer.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.part = self.part.clone()
        return x + 1


def make():
    model = Model()
    model.register_buffer("part", torch.zeros(2)[1:])
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    (node,) = ep.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)
    return model.part.storage_offset(), node.meta["val"].storage_offset()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the offset of part is {expected}, recorded after copy_ is {got}")
    raise SystemExit(bug)
