# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: an exported torch.fx.GraphModule returns its weight, bias and input as outputs"
# variant-of = "unflatten_fails_on_exported_graph_module"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "shape", "fresh"]]
# fix = "graph_modules_have_a_root"
# upstream = ""
# at-fault = "torch/export/_trace.py, _aot_export_non_strict: it keeps stacks without the root"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The result of torch.fx.symbolic_trace has three outputs. Unflattened, it returns weight, bias and input in
their place.

torch.fx records module stacks that begin with the called module. Non-strict export keeps them
(`_aot_export_non_strict`). Its own stacks begin with the root. So unflatten does not find the root, and takes
the arguments of the layer for outputs.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        return y, y + 1, y + 2


def make():
    torch.manual_seed(0)
    return torch.fx.symbolic_trace(Model()), (torch.ones(2, 3),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    return [tuple(each.shape) for each in model(*args)], [tuple(each.shape) for each in unflattened(*args)]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the unflattened program {got}")
    raise SystemExit(bug)
