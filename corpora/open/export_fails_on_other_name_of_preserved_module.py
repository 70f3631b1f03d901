# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD107"
# title = "preserve_module_call_signature: KeyError if a shared submodule is called twice by its other name"
# harm = "obscure error"
# reach = "contrived"
# reach-because = "a shared submodule, preserved by one name and called twice by the other"
# topics = ["shared-modules", "names"]
# cause = """
# For the second call, `CollectTracepointsPass` copies the signature of `second`, which has none. Only later
# it compares `fqn` with `path`, and would find that `second` is not preserved."""
# path = "nonstrict+preserve_leaves:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "KeyError",
#         "_trace.py:_get_module_call_graph",
#         "pass_base.py:__call__",
#         "collect_tracepoints_pass.py:call",
#     ],
# ]
# fix = "skip_variants_of_unpreserved_names"
# upstream = "https://github.com/pytorch/pytorch/pull/189569"
# upstream-match = "mechanism"
# upstream-fix = "https://github.com/pytorch/pytorch/pull/189569"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/passes/collect_tracepoints_pass.py, CollectTracepointsPass.call: self.specs[fqn]"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`first` and `second` are one module. `first` is preserved, and forward calls `second` twice: KeyError
'second'.

For the second call, `CollectTracepointsPass` copies the signature of `second`, which has none. Only later it
compares `fqn` with `path`, and would find that `second` is not preserved.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return self.second(self.second(x) + 1)


def make():
    model = Model()
    model.first = model.second = nn.ReLU()
    return model, (torch.ones(1),)


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, preserve_module_call_signature=("first",))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, export raises {error!r}")
    print("ok: neither eager nor export raises")
