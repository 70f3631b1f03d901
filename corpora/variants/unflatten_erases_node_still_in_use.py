# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten: KeyError if a no_grad block has no effect and an operator before it is used in place"
# variant-of = "unflatten_fails_on_dead_code_before_no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "KeyError",
#         "graph.py:graph_copy",
#         "graph.py:node_copy",
#         "graph.py:<lambda>",
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
"""`y` is added in place and also read in a no_grad block whose result is unused. unflatten raises KeyError.

Export splits the graph at the block. `node_inline_` clears all users of y, although it should remove the
output node only. unflatten removes the block as dead code, and then y, which seems to have no users.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        x.view(-1).add_(y)
        with torch.no_grad():
            y + 3
        return x + 4


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    return model(*args), torch.export.unflatten(ep)(torch.ones(1))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except KeyError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
