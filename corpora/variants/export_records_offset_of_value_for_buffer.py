# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export: copy_ that updates an assigned buffer records the storage offset of the new value"
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
"""`part` is the second element of its memory; copy_ into it is recorded with storage offset 0 instead of 1.

Export makes copy_(part, clone) of the assignment and takes the metadata of the new node from `clone`
(new_node.meta = name_node.meta, one dict for both), though copy_ returns the buffer. The placeholder of the
buffer has the right offset, as has a copy_ that is written in the model.
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
