# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten erases a node that an in-place op still reads, and fails with KeyError"
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
"""`y` is read by an in-place op and by a no_grad region; the exported graph knows of the region alone.

When the region turns out to be dead and is erased, `y` seems to have no users and is erased as well, though
add_ still reads it. node_inline_ clears all users of the one output of a piece, where it means to take the
output node from them.
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
