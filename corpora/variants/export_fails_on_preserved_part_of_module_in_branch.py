# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "preserve_module_call_signature: export fails if a torch.cond branch calls a parent of the module"
# variant-of = "export_fails_on_preserved_module_in_branch"
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "UncapturedHigherOrderOpError"]]
# trigger = ["region.submodule"]
# upstream = ""
# at-fault = "torch/_export/wrappers.py, update_module_call_signatures: writes to a dict where Dynamo traces"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The signature of one layer is preserved. A branch calls the block that has this layer, and export fails.

Hooks note the arguments of the layer in a dict. Dynamo traces the whole branch, and refuses this write.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = nn.Sequential(nn.Linear(1, 1), nn.ReLU())

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.block(x), lambda x: x - 1, (x,))


def make():
    torch.manual_seed(0)
    return Model(), (torch.ones(1, 1),)


def show():
    model, args = make()
    torch.export.export(model, args, preserve_module_call_signature=("block.0",))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except torch._dynamo.exc.UncapturedHigherOrderOpError as error:
        if "_export/wrappers.py" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
