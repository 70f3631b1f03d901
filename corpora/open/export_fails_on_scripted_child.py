# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD112"
# title = "torch.export: TypeError (one argument too many) for a submodule made by torch.jit.script"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "models with a scripted part, which strict=True refuses with a clear message"
# topics = ["graph-modules"]
# cause = """
# Since PyTorch PR 155180, export runs the Python method, `__wrapped__`, of a scripted method. For a
# scripted nn.Module, this method is bound to the original module, and `ScriptMethod.__call__` passes
# itself as well, as the first argument. Without this argument, export would trace the module from before
# scripting, whose parameters may differ. So it should refuse, as strict export does:
# "torch.jit.script/freeze modules unsupported"."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "TypeError"]]
# fix = "export_refuses_scripted_children"
# upstream = "https://github.com/pytorch/pytorch/pull/155180"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/csrc/jit/python/script_init.cpp, ScriptMethod.__call__: __wrapped__ gets all arguments"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A submodule made by torch.jit.script runs in eager. Export calls its forward with one argument too many.

Since PyTorch PR 155180, export runs the Python method, `__wrapped__`, of a scripted method. For a scripted
nn.Module, this method is bound to the original module, and `ScriptMethod.__call__` passes itself as well, as
the first argument. Without this argument, export would trace the module from before scripting, whose
parameters may differ. So it should refuse, as strict export does: "torch.jit.script/freeze modules
unsupported".
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = torch.jit.script(nn.Linear(3, 3))

    def forward(self, x):
        return self.child(x) + 1


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args).module()(*args)


def make_workaround():
    """Export the child without torch.jit.script."""

    class Unscripted(nn.Module):
        def __init__(self):
            super().__init__()
            self.child = nn.Linear(3, 3)

        def forward(self, x):
            return self.child(x) + 1

    return Unscripted(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except TypeError as error:
        sys.exit(f"BUG: eager calls the scripted child, export raises {error!r:.100}")
    except torch._dynamo.exc.UserError as error:
        print(f"ok: {error}")
        raise SystemExit(0) from None
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
