# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: RuntimeError for an expanded input that was copied or loaded"
# severity = "C"
# severity-because = "an expanded input that is no view, as after copy.deepcopy or torch.load"
# cause = """
# _safe_copy fills the real tensor beside a fake one by copy_, which refuses a tensor of which several
# elements have one place in memory."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "RuntimeError", "meta_utils.py:__call__"]]
# fix = "draft_export_copies_each_place_once"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/_subclasses/meta_utils.py, _safe_copy: dst.copy_(src)"
# ///
"""torch.export.export takes this input, draft_export raises RuntimeError.

draft_export carries a real tensor beside each fake one, and copies the input into it. A tensor of which
several elements have one place in memory cannot be written to by copy_. (The copy of a view has the strides
of the view, and is none.)
"""

import copy
import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


def make():
    return Model(), (copy.deepcopy(torch.ones(1).expand(2)),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    seen = None
    try:
        torch.export.draft_export(model, args)
    except RuntimeError as error:
        seen = error
    bug = seen is not None
    print("BUG:" if bug else "ok:", f"eager returns {model(*args)}, draft_export raises {seen!r}")
    raise SystemExit(bug)
