# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD109"
# title = "preserve_module_call_signature: export fails if a branch of torch.cond calls the module"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "preserve_module_call_signature of a module that a branch of torch.cond calls"
# topics = ["control-flow"]
# cause = """
# A hook stores the arguments of each preserved call in a dict. Dynamo traces the branch together with the
# hook, and refuses a write to a dict outside of the branch. Without preserve_module_call_signature, the model
# exports."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "UncapturedHigherOrderOpError"]]
# trigger = ["region.submodule"]
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/wrappers.py, update_module_call_signatures: writes to a dict where Dynamo traces"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A branch of torch.cond calls a submodule. With preserve_module_call_signature, export fails.

A hook stores the arguments of each preserved call in a dict. Dynamo traces the branch together with the hook,
and refuses a write to a dict outside of the branch. Without preserve_module_call_signature, the model
exports.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.ReLU()

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.inner(x), lambda x: x - 1, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    torch.export.export(model, args, preserve_module_call_signature=("inner",))


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
