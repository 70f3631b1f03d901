# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD276"
# title = "unflatten: an update of a buffer does not reach another buffer that shares its memory"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a buffer that is a view of another"
# topics = ["views", "buffers"]
# cause = """
# `UnflattenedModule.__init__` clones each buffer separately, except if storage, sizes, strides and offset are
# all the same. It should clone each storage once. `ep.module()` is right."""
# path = "nonstrict:unflatten@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "memory-no-longer-shared"]]
# fix = "unflatten_copies_memory_once"
# upstream = "https://github.com/pytorch/pytorch/pull/125758"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, UnflattenedModule.__init__, the loop over graph_signature.buffers"
# workaround = "none: slice the buffer in forward, which leaves the view out of the state"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`part` is a view of the buffer `whole`. An update of `part` shows in `whole` in eager. Unflattened, it does
not.

`UnflattenedModule.__init__` clones each buffer separately, except if storage, sizes, strides and offset are
all the same. It should clone each storage once. `ep.module()` is right.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        self.part.add_(1)
        return x + self.whole


def make():
    model = Model()
    model.register_buffer("whole", torch.zeros(2))
    model.register_buffer("part", model.whole[:1])
    return model, (torch.zeros(2),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    return model(*args), unflattened(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten gives {got}")
    raise SystemExit(bug)
