# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD155"
# title = "torch.export: reads a size after x.t_() instead of before it, if the model compares it"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "t_() on an input with a dynamic size that the model compares with a number"
# topics = ["dynamic-sizes", "in-place"]
# cause = """
# The number of rows of the transposed input is its second size before `t_()`. `track_tensor` makes the node
# that reads a size only when it is needed, here after `t_()` in the graph, where the second size is another.
# For most sizes, a later pass reads the size at the start of the graph instead. It leaves this one alone,
# because the comparison has made it static. Sizes should be read before the tensor is changed."""
# path = "nonstrict:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# fix = "read_sizes_before_in_place_views"
# upstream = "https://github.com/pytorch/pytorch/pull/85049"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/experimental/proxy_tensor.py, track_tensor: sizes are read when they are needed"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model transposes its input in place, and makes a tensor with as many elements as the transposed input
has rows. It adds them up if there are 3: eager gives 3. The program gives 2.

The number of rows of the transposed input is its second size before `t_()`. `track_tensor` makes the node
that reads a size only when it is needed, here after `t_()` in the graph, where the second size is another.
For most sizes, a later pass reads the size at the start of the graph instead. It leaves this one alone,
because the comparison has made it static. Sizes should be read before the tensor is changed.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        rows = torch.ones(x.t_().shape[0])  # first difference
        return rows.sum() if len(rows) == 3 else rows


def make():
    return Model(), (torch.ones(2, 3),)


def dynamic_shapes():
    return {"x": {1: torch.export.Dim.AUTO}}


def show():
    model, args = make()
    program = torch.export.export(model, args, dynamic_shapes=dynamic_shapes())
    return model(*make()[1]), program.module()(*make()[1])


def make_workaround():
    """Make the tensor before the transposition."""

    class Reading(Model):
        def forward(self, x):
            rows = torch.ones(x.shape[1])
            x.t_()
            return rows.sum() if len(rows) == 3 else rows

    return Reading(), (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the exported program {got}")
    raise SystemExit(bug)
