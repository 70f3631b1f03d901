# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD050"
# title = "run_decompositions: SpecViolationError for a torch.cond or while_loop that updates a buffer"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a cache or a counter that one branch updates; eager and export take it under no_grad"
# topics = ["control-flow", "buffers", "kv-cache"]
# cause = """
# `auto_functionalized_v2` gives the branch a copy of the buffer to write to. The verifier demands that the
# graph of the branch has no operator that writes. It should allow this in graphs that
# `auto_functionalized_v2` calls."""
# path = "nonstrict+decompose:module@cpu"
# check = "outputs"
# kind = "crash"
# stage = "lower"
# status = "open"
# signatures = [
#     [
#         "outputs",
#         "crash",
#         "lower",
#         "SpecViolationError",
#         "verifier.py:check",
#         "verifier.py:_check_graph_module",
#         "verifier.py:_check_valid_op",
#     ],
# ]
# fix = "branches_may_write_when_decomposed"
# upstream = "https://github.com/pytorch/pytorch/issues/115106"
# upstream-match = "symptom"
# upstream-searched = "2026-11-26"
# at-fault = "torch/_export/verifier.py, Verifier._check_graph_module: asks graphs of auto_functionalized_v2"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "other"
# "2.11.0" = "other"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""One branch of torch.cond updates a buffer under no_grad. The model exports, but run_decompositions raises
SpecViolationError.

`auto_functionalized_v2` gives the branch a copy of the buffer to write to. The verifier demands that the
graph of the branch has no operator that writes. It should allow this in graphs that `auto_functionalized_v2`
calls.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def counted(self, x):
        self.count.add_(1)
        return x * 2

    def forward(self, x):
        with torch.no_grad():
            return torch.cond(x.sum() > 0, self.counted, torch.neg, (x,))


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False)
    module = program.run_decompositions().module()
    got = module(*args), module.count
    return (model(*args), model.count), got


def make_workaround():
    """Return the new value from both branches, and write it to the buffer after torch.cond."""

    class Returning(Model):
        def counted(self, x):
            return x * 2, self.count + 1

        def forward(self, x):
            with torch.no_grad():
                branches = self.counted, lambda x: (-x, self.count.clone())
                y, count = torch.cond(x.sum() > 0, *branches, (x,))
                self.count.copy_(count)
                return y

    return Returning(), (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        expected, got = show()
    except torch._export.verifier.SpecViolationError as error:
        sys.exit(f"BUG: run_decompositions raises SpecViolationError: {error}")
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the decomposed program {got}")
    raise SystemExit(bug)
