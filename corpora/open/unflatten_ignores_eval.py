# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: eval() of an unflattened module has no effect, and does not say so"
# severity = "A"
# severity-because = "a model exported in train mode: after eval(), dropout goes on in silence"
# cause = """
# The mode of the model at export is a constant of the graphs. ep.module() refuses eval() and train();
# UnflattenedModule inherits those of nn.Module, which set a flag that nothing reads."""
# path = "nonstrict:unflatten@cpu"
# check = "guards"
# kind = "mismatch"
# status = "open"
# signatures = [["guards", "mismatch", "accepted", "eval"]]
# fix = "unflattened_module_refuses_to_switch_modes"
# affected = ["2.13.0"]
# upstream = "https://github.com/pytorch/pytorch/issues/151726"
# upstream-match = "mechanism"
# at-fault = "torch/export/unflatten.py, UnflattenedModule: takes train and eval from nn.Module"
# ///
"""A model with dropout is exported in train mode: after eval(), the unflattened module still drops values.

What ep.module() returns raises NotImplementedError in eval().
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.9)

    def forward(self, x):
        return self.dropout(x)


def make():
    return Model(), (torch.ones(8),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    expected = model.eval()(*args)
    torch.manual_seed(0)
    try:
        seen = unflattened.eval()(*args)
    except NotImplementedError as error:
        seen = error
    bug = torch.is_tensor(seen) and not torch.equal(expected, seen)
    print(f"{'BUG' if bug else 'ok'}: after eval(), eager gives {expected}, the unflattened module {seen}")
    raise SystemExit(bug)
