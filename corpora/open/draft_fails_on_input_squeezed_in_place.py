# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "draft_export: IndexError for x.squeeze_() on an input"
# severity = "C"
# severity-because = "squeeze_, unsqueeze_ or set_ on an input, in a draft export"
# cause = """
# squeeze_ changes the rank of the real tensor beside the fake input; export restores the fake one alone, and
# reads a size of the real one for each dimension of the fake one."""
# path = "draft:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "export", "IndexError"]]
# fix = "draft_export_ignores_sizes_of_another_rank"
# upstream = ""
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/fx/experimental/symbolic_shapes.py, _free_unbacked_symbols_with_path: real_tensor.size()"
# ///
"""torch.export.export takes this model, draft_export raises IndexError.

draft_export carries a real tensor beside each fake one. squeeze_ changes the rank of both; when export has
traced the model, it gives the fake input its rank back, and not the real tensor.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.squeeze_() + 1


def make():
    return Model(), (torch.ones(1, 2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    seen = None
    try:
        torch.export.draft_export(model, args)
    except IndexError as error:
        seen = error
    bug = seen is not None
    print("BUG:" if bug else "ok:", f"eager returns {model(*args)}, draft_export raises {seen!r}")
    raise SystemExit(bug)
