# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "non-strict export files the child of a module in a dict under another submodule of its name"
# variant-of = "export_misnames_children_of_wrapped_forward"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "calls", "order"], ["structure", "mismatch", "calls", "unknown"]]
# fix = "children_of_wrapped_forward_keep_names"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, _ModuleStackTracer.getattr: proxy_type(attr_val, attr)"
# ///
"""The unflattened model calls `act` twice, the model calls it once.

The expert is in a dict: it is not registered, and is traced without a name. But where any module has two names,
the tracer takes what is read from a real module for a child of the root, so that the expert's `act` counts as
the model's.
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


def calls(graph):
    """Return the submodules that a graph calls."""
    return [node.target for node in graph.nodes if node.op == "call_module"]


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    seen = calls(torch.export.unflatten(torch.export.export(model, args, strict=False)).graph)
    bug = seen != ["act"]
    print(f"{'BUG' if bug else 'ok'}: eager calls act once, unflatten calls {', '.join(seen)}")
    raise SystemExit(bug)
