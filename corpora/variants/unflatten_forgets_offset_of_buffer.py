# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a buffer that begins within its memory gets storage offset 0"
# variant-of = "unflatten_separates_views"
# path = "nonstrict:unflatten@cpu"
# check = "inputs"
# kind = "mismatch"
# status = "open"
# signatures = [["inputs", "mismatch", "offset"]]
# fix = "unflatten_copies_memory_once"
# upstream = ""
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over graph_signature.buffers"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The buffer `part` begins at the second element of its memory. Unflattened, it begins at the first of its
own memory.

`UnflattenedModule.__init__` copies each buffer with clone(), which does not keep the offset. It should clone
the whole storage. `x.set_(self.part)` makes the offset visible in x.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x.set_(self.part)
        return x + 1


def make():
    model = Model()
    model.register_buffer("part", torch.zeros(2)[1:])
    return model, (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    x, y = torch.ones(2, 1)
    model(x)
    unflattened(y)
    return x.storage_offset(), y.storage_offset()


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager sets offset {expected}, unflatten {got}")
    raise SystemExit(bug)
