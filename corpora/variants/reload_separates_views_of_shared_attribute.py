# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "torch.export.load: a buffer that is a view of a shared tensor attribute gets separate memory"
# variant-of = "reload_separates_views_of_weights"
# path = "nonstrict+reload:module@cpu"
# check = "sharing"
# kind = "mismatch"
# status = "open"
# signatures = [["sharing", "mismatch", "memory-no-longer-shared"]]
# fix = "save_packs_constants_with_their_weights"
# upstream = ""
# at-fault = "torch/export/pt2_archive/_package.py, _package_exported_programs: weights and constants apart"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A buffer is a view of a tensor attribute that has two names. After save and load, updates of the buffer do
not reach the attribute.

The attribute is saved among the constants of the program, the buffer among the weights.
`_package_exported_programs` writes the shared storage once for each group.
"""

import io
import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.whole = torch.zeros(2)
        self.same = self.whole
        self.register_buffer("part", self.whole[:1])

    def forward(self, x):
        self.part.add_(1)
        return x + self.whole + self.same


def make():
    return Model(), (torch.zeros(2),)


def show():
    model, args = make()
    file = io.BytesIO()
    torch.export.save(torch.export.export(model, args), file)
    file.seek(0)
    return model(*args), torch.export.load(file).module()(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the loaded program {got}")
    raise SystemExit(bug)
