# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "preserve_module_call_signature: RuntimeError if a no_grad block follows the submodule"
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
# upstream = ""
# at-fault = "torch/_export/utils.py, node_inline_: new_output.users.clear()"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule is called before a no_grad block. Export raises RuntimeError: a node "was used before
it has been defined".

Export splits the graph at the block. `node_inline_` clears all users of the node that a part returns,
although it should remove the output node only. So a node that is still used is removed.
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


def show():
    model, args = make()
    return model(*args), torch.export.export(model, args, preserve_module_call_signature=("child",))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except RuntimeError as error:
        if "was used before it has been defined! Please check that" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, export raises {error!r:.100}")
    print("ok: neither eager nor export raises")
