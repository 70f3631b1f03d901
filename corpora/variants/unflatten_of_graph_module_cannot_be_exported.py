# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "export again: ValueError on the unflattened form of an exported torch.fx.GraphModule"
# variant-of = "unflatten_fails_on_exported_graph_module"
# path = "nonstrict+reexport_unflattened:module@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "ValueError",
#         "_symbolic_trace.py:forward",
#         "_pytree.py:tree_unflatten",
#         "_pytree.py:unflatten",
#     ],
# ]
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
"""The result of torch.fx.symbolic_trace is exported and unflattened. To export that raises ValueError."""

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
    torch.export.export(unflattened, args, strict=False)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except ValueError as error:
        sys.exit(f"BUG: the first export raises nothing, the second {error!r:.100}")
    print("ok: the first export raises nothing, the second nothing")
