# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.load: the result of a while_loop, the last of its rows, is recorded as the first"
# variant-of = "reload_forgets_offsets"
# path = "nonstrict+reload:module@cpu"
# check = "fake"
# kind = "mismatch"
# status = "open"
# signatures = [["fake", "mismatch", "offset", "reload"]]
# fix = "load_restores_storage_offsets"
# upstream = ""
# at-fault = "torch/_export/serde/serialize.py, deserialize_tensor_meta: empty_strided without storage_offset"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A loop keeps what all its steps give, for backward, and returns the last row: its offset is unbacked.

The exported graph records offset u0 - 1 for the counter, where u0 is the number of steps; the loaded one 0.
"""

import io
import sys

import torch
from torch._higher_order_ops.while_loop import while_loop


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x):
        start = (torch.zeros((), dtype=torch.long), x)
        return while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, self.layer(y)), start)[1]


def make():
    return Model(), (torch.ones(2, 3),)


def offset_of_counter(program):
    (node,) = program.graph.find_nodes(op="call_function", target=torch.ops.higher_order.while_loop)
    return str(node.meta["val"][0].storage_offset())


def show():
    model, args = make()
    file = io.BytesIO()
    program = torch.export.export(model, args)
    torch.export.save(program, file)
    file.seek(0)
    return offset_of_counter(program), offset_of_counter(torch.export.load(file))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print("BUG:" if bug else "ok:", f"the counter begins at offset {expected}, in the loaded graph at {got}")
    raise SystemExit(bug)
