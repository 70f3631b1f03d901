# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD005"
# title = "torch.compile: a write with out= in a branch of torch.cond is lost"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "an operator with out= in a branch of torch.cond, compiled or decomposed: silently lost"
# topics = ["control-flow", "in-place", "buffers"]
# cause = """
# `check_input_alias_and_mutation_return_outputs` looks for writes in the positional arguments of each
# operator (`node.args`) and misses `out=`, a keyword. So torch.cond counts as free of side effects, and the
# write goes to a copy. It should look at `node.kwargs` as well."""
# path = "compile:aot_eager@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "value", "buffer"]]
# fix = "branches_write_to_any_argument"
# upstream = "https://github.com/pytorch/pytorch/pull/146658"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_higher_order_ops/utils.py, check_input_alias_and_mutation_return_outputs: node.args"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A branch of torch.cond writes a product to a buffer with out=. Under torch.compile the buffer does not
change.

`check_input_alias_and_mutation_return_outputs` looks for writes in the positional arguments of each operator
(`node.args`) and misses `out=`, a keyword. So torch.cond counts as free of side effects, and the write goes
to a copy. It should look at `node.kwargs` as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(2))

    def keep(self, x):
        torch.mul(x, 2, out=self.last)  # first difference
        return x + 1

    @torch.no_grad()
    def forward(self, x):
        return torch.cond(x.sum() > 0, self.keep, torch.neg, (x,))


def make():
    return Model(), (torch.ones(2),)


def show():
    (model, args), (compiled, _) = make(), make()
    model(*args)
    compiled.compile(backend="aot_eager")
    compiled(*args)
    return model.last, compiled.last


def make_workaround():
    """Return the new value from both branches, and write it to the buffer after torch.cond."""

    class Returning(Model):
        def keep(self, x):
            return x + 1, x * 2

        def leave(self, x):
            return -x, self.last.clone()

        @torch.no_grad()
        def forward(self, x):
            result, last = torch.cond(x.sum() > 0, self.keep, self.leave, (x,))
            self.last.copy_(last)
            return result

    return Returning(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager writes {expected}, torch.compile leaves {got}")
    raise SystemExit(bug)
