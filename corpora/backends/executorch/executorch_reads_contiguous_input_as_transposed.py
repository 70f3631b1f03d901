# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: a model exported with a transposed example reads a contiguous input as transposed"
# id = "XE023"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "an example input that is transposed, and a contiguous input of the same sizes in the call"
# topics = ["layout"]
# cause = """
# The program records the dim order of the example, (1, 0). A call with a contiguous tensor is accepted: the
# runtime takes the data and keeps the dim order of the program. It should compare both, and refuse the
# input. A transposed tensor it refuses always, so the program has no right call."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [
#   ["outputs", "mismatch", "value", "output-is-input"],
#   ["outputs", "mismatch", "value", "fresh"],
# ]
# trigger = ["input.transposed"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/runtime/executor/method.cpp, set_input: it takes an input of another dim order"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method sums over the rows, where the model sums over the columns. The example input was transposed.

The program expects the data of a transposed tensor. The runtime takes the data of a contiguous one for it.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x.sum(0)  # first difference


def make():
    return Model(), (torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t(),)


def show(made=None):
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = made or make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    x = args[0].contiguous()
    return model(x), method.execute([x])[0]


def make_workaround():
    """Export with a contiguous example."""
    model, (x,) = make()
    return model, (x.contiguous(),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
