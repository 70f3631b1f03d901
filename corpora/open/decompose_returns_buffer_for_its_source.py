# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "A decomposed program returns the buffer for what was copied into it"
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "identity"]]
# fix = "copies_of_outputs_stay"
# affected = "2.13.0"
# upstream = ""
# at-fault = "torch/export/exported_program.py, _remove_unnecessary_copy_op_pass: replace_all_uses_with"
# ///
"""`self.last.copy_(y); return y` returns y; decomposed, it returns self.last, which the next call overwrites.

_remove_unnecessary_copy_op_pass lets y itself be what is written back to the buffer, and so one node is an
output of the model and the new value of the buffer. _insert_copy_for_mutations takes an output that is the
new value of a buffer for the buffer, and returns the result of copy_.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        y = x + 1
        self.last.copy_(y)
        return y


def make():
    model = Model()
    model.register_buffer("last", torch.zeros(2))
    return model, (torch.ones(2),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    candidate = torch.export.export(model, args).run_decompositions().module()
    for name, run in (("eager", model), ("decomposed", candidate)):
        first = run(torch.zeros(2))
        run(torch.ones(2))
        print(f"{name}: after a second call, the first result is {first.tolist()}")
    bug = first.tolist() != [1.0, 1.0]
    print("BUG: it is the buffer" if bug else "ok: it is as it was")
    raise SystemExit(bug)
