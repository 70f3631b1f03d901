# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD244"
# title = "unflatten: ValueError for an exported torch.fx.GraphModule with one layer"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a model that torch.fx has traced, with one layer, is exported and unflattened"
# topics = ["graph-modules"]
# cause = """
# torch.fx records module stacks that begin with the called module. Non-strict export keeps them
# (`_aot_export_non_strict`). Its own stacks begin with the root. So unflatten does not find the root, and
# takes the arguments of the layer for outputs."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "run",
#         "ValueError",
#         "_pytree.py:tree_unflatten",
#         "_pytree.py:unflatten",
#     ],
# ]
# fix = "graph_modules_have_a_root"
# upstream = ""
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/_trace.py, _aot_export_non_strict: it keeps stacks without the root"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The result of torch.fx.symbolic_trace can be exported. Unflattened, it raises ValueError. `ep.module()` is
right.

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
        return self.linear(x).relu()


def make():
    torch.manual_seed(0)
    return torch.fx.symbolic_trace(Model()), (torch.ones(2, 3),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args, strict=False))
    return model(*args), unflattened(*args)


def make_workaround():
    """Export the module itself."""
    torch.manual_seed(0)
    return Model(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except ValueError as error:
        sys.exit(f"BUG: eager returns a tensor, the unflattened program {error!r}")
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager returns {expected}, the unflattened program {got}")
    raise SystemExit(bug)
