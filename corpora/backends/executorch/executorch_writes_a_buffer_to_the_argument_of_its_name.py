# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: a write to a buffer goes to the argument of the same name"
# id = "XE021"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a buffer that forward updates, and an argument with its name, such as mask or state"
# topics = ["buffers"]
# cause = """
# insert_write_back_for_buffers_pass looks up what to write to in one table of names. A buffer is in it under
# its name in the model, an argument under its name in the graph, and the last of two wins. It should have a
# table for each."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "output-is-input"], ["outputs", "mismatch", "value"]]
# trigger = ["names.operator", "inplace.buffer"]
# upstream = ""
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/passes/insert_write_back_for_buffers_pass.py, input_name_to_node"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The method returns the new value of the buffer, where eager returns the argument. Both are called seen.

ExecuTorch writes the new value of the buffer to the argument. The buffer keeps its old value.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))

    def forward(self, seen):
        self.seen.add_(1)  # first difference
        return seen


def make():
    return Model(), (torch.tensor([5.0, 5.0]),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    return model(*args), method.execute(args)[0]


def make_workaround():
    """Give the argument another name."""

    class Renamed(Model):
        def forward(self, x):
            self.seen.add_(1)
            return x

    return Renamed(), make()[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected.tolist()}, the method {got.tolist()}")
    raise SystemExit(bug)
