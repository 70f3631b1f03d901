# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD060"
# title = "prefer_deferred_runtime_asserts_over_guards: no check of sizes if the model returns its input"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a branch on a size, where one branch returns the input; only with the option"
# topics = ["dynamic-sizes"]
# cause = """
# With prefer_deferred_runtime_asserts_over_guards=True, the program must check at run time that the length is
# even. `insert_deferred_runtime_asserts` inserts checks when it comes to the first node after the inputs, but
# leaves out the last node of the graph (`nodes[:-1]`). This graph has no other one, and gets no checks."""
# path = "nonstrict+deferred:module@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#     ["outputs", "mismatch", "shape", "fresh", "probe"],
# ]
# fix = "deferred_checks_come_before_the_output"
# upstream = "https://github.com/pytorch/pytorch/pull/125878"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/fx/passes/runtime_assert.py, insert_deferred_runtime_asserts: enumerate(nodes[:-1])"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""The model pads its input to an even length. The program, exported with an even one, returns an odd one as
it is.

With prefer_deferred_runtime_asserts_over_guards=True, the program must check at run time that the length is
even. `insert_deferred_runtime_asserts` inserts checks when it comes to the first node after the inputs, but
leaves out the last node of the graph (`nodes[:-1]`). This graph has no other one, and gets no checks.
"""

import sys

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] % 2 == 0:  # first difference
            return x
        return F.pad(x, (0, 1))


def make():
    return Model(), (torch.ones(4),)


def dynamic_shapes():
    return {"x": {0: torch.export.Dim("n")}}


def probes():
    return [((torch.ones(3),), {})]


def show():
    model, args = make()
    option = {"prefer_deferred_runtime_asserts_over_guards": True}
    ep = torch.export.export(model, args, dynamic_shapes=dynamic_shapes(), **option)
    x = torch.ones(3)
    return tuple(model(x).shape), tuple(ep.module()(x).shape)


def make_workaround():
    """Return a copy of the input."""

    class Copying(Model):
        def forward(self, x):
            if x.shape[0] % 2 == 0:
                return x.clone()
            return F.pad(x, (0, 1))

    return Copying(), (torch.ones(4),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except RuntimeError as error:
        if "Runtime assertion failed" not in str(error):
            raise
        print("ok: of shape (3,) eager makes (4,), the program refused")
        raise SystemExit(0) from None
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: of shape (3,) eager makes {expected}, the program {got}")
    raise SystemExit(bug)
