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
# affected = ["2.9.1", "2.11.0", "2.13.0", "2.14.1"]
# at-fault = "torch/_export/utils.py, node_inline_: new_output.users.clear()"
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


if __name__ == "__main__":
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)  # not the bug: 3
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    try:
        seen, bug = torch.export.unflatten(ep)(torch.ones(1)), False
    except KeyError as error:
        seen, bug = error, True
    print(f"{'BUG' if bug else 'ok'}: eager gives {model(*args)}, unflatten {seen!r}")
    raise SystemExit(bug)
