# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "Export fails on a preserved submodule before a no_grad region"
# variant-of = "unflatten_fails_on_dead_code_before_no_grad"
# path = "nonstrict+preserve:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "export",
#         "RuntimeError",
#         "verifier.py:_check_graph_module",
#         "graph.py:lint",
#         "graph.py:check_arg",
#     ],
# ]
# fix = "inline_forgets_no_users"
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# upstream = ""
# at-fault = "torch/_export/utils.py, node_inline_: new_output.users.clear()"
# ///
"""What the tracepoint of the call returns has no users any more, so that its removal leaves one behind.

node_inline_ clears all users of the one output of a piece, here of the argument of `child`, where it means to
take the output node from them.
"""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        self.child(x)
        with torch.no_grad():
            self.count.add_(1)
        return x


def make():
    model = Model()
    model.child = nn.ReLU()
    model.register_buffer("count", torch.zeros(1))
    return model, (torch.ones(1),)


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    try:
        torch.export.export(model, args, preserve_module_call_signature=("child",))
        print("ok: neither eager nor export raises")
    except RuntimeError as error:
        if "was used before it has been defined! Please check that" not in str(error):
            raise
        print(f"BUG: eager gives {model(*args)}, export raises {str(error).splitlines()[0]}")
        raise SystemExit(1) from None
