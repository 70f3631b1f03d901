# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: a buffer with gaps becomes contiguous, so that as_strided reads other elements"
# variant-of = "unflatten_separates_views"
# path = "nonstrict:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch"]]
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
"""The buffer is `torch.arange(6.0)[::2]`. Unflattened, it is contiguous, and `as_strided` gives [0, 4]
instead of [0, 2].

`UnflattenedModule.__init__` copies each buffer with clone(), which removes gaps. It should keep the strides
that the graph was traced with.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + self.every.as_strided((2,), (2,))


def make():
    model = Model()
    model.register_buffer("every", torch.arange(6.0)[::2])
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
