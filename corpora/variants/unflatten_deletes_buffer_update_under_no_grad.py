# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "unflatten deletes the update of a buffer under no_grad, from the exported program too"
# variant-of = "unflatten_deletes_update_under_no_grad"
# path = "nonstrict:unflatten@cpu"
# check = "structure"
# kind = "mismatch"
# status = "open"
# signatures = [["structure", "mismatch", "steps", "missing", "wrap_with_set_grad_enabled"]]
# fix = "regions_have_the_effects_of_their_bodies"
# upstream = ""
# at-fault = "torch/fx/node.py, Node.is_impure: higher order operators are pure, whatever their subgraphs do"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A no_grad region that updates a buffer, here to the value that it has, is gone after unflatten.

The region is a call whose result is unused, and the eliminate_dead_code in _remove_effect_tokens takes it
for dead. The values do not show it; the graph lacks it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(1))

    def forward(self, x):
        with torch.no_grad():
            self.state.mul_(2)
        return x + 1


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    unflattened = torch.export.unflatten(torch.export.export(model, args))
    region = torch.ops.higher_order.wrap_with_set_grad_enabled
    return 1, len(unflattened.graph.find_nodes(op="call_function", target=region))


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager updates the buffer, unflatten {'does not' if bug else 'too'}")
    raise SystemExit(bug)
