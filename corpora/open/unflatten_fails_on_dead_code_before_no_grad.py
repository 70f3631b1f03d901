# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD242"
# title = "unflatten: SystemError if a result before a no_grad block is unused"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "an unused result before a no_grad block"
# topics = ["no-grad", "unused-results"]
# cause = """
# Export splits the graph at the block, and inlines the parts around it. `node_inline_` clears all users of
# the node that such a part returns, although it should remove the output node only. So the graph no longer
# knows that the multiplication uses x, and unflatten fails when it removes dead code."""
# path = "nonstrict:unflatten@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SystemError",
#         "_remove_effect_tokens_pass.py:_remove_effect_tokens",
#         "graph.py:eliminate_dead_code",
#         "graph.py:erase_node",
#     ],
# ]
# fix = "inline_forgets_no_users"
# upstream = "https://github.com/pytorch/pytorch/pull/129716"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/utils.py, node_inline_: new_output.users.clear()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model computes `x * 2` and does not use it, then enters a no_grad block. unflatten raises SystemError.

Export splits the graph at the block, and inlines the parts around it. `node_inline_` clears all users of the
node that such a part returns, although it should remove the output node only. So the graph no longer knows
that the multiplication uses x, and unflatten fails when it removes dead code.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        x * 2
        with torch.no_grad():
            return x + 3


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, strict=False)
    return model(*args), torch.export.unflatten(ep)(*args)


def make_workaround():
    """Delete the line without effect."""

    class Shorter(Model):
        def forward(self, x):
            x = x + 1
            with torch.no_grad():
                return x + 3

    return Shorter(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except SystemError as error:
        sys.exit(f"BUG: eager raises nothing, unflatten raises {error!r}")
    print(f"ok: eager gives {expected}, unflatten {got!r}")
