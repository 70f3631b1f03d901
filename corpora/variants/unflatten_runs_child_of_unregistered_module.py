# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: the child of a module in a plain dict replaces a child of the model with the same name"
# variant-of = "export_misnames_children_of_wrapped_forward"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# fix = "children_of_wrapped_forward_keep_names"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, _ModuleStackTracer.getattr: proxy_type(attr_val, attr)"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""An expert in a plain dict has a child `act`, and so has the model. Unflattened, the model runs the expert's
`act` for both.

If any module has two names, the tracer replaces modules by proxies that know their path. A module in a dict
has none, and `_ModuleStackTracer.getattr` records its child as `act`, a child of the root.
"""

import sys

import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Tanh()

    def forward(self, x):
        return self.act(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = {"one": Expert()}
        self.act = nn.ReLU()
        self.same = self.act

    def forward(self, x):
        return self.experts["one"](x) + self.act(x)


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    return model(*args), torch.export.unflatten(torch.export.export(model, args, strict=False))(*args)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, unflatten {got}")
    raise SystemExit(bug)
