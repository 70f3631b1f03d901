# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: the method also returns each input that the model writes to, before its results"
# id = "XE005"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "a model whose first operator works in place on its input, such as an in-place ReLU"
# topics = ["in-place"]
# cause = """
# torch.export returns the new value of such an input as an output of the kind USER_INPUT_MUTATION. After
# insert_write_back_for_buffers_pass has written it back, _remove_non_user_outputs removes the outputs of
# the kind BUFFER_MUTATION alone. It should remove both kinds."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "structure"]]
# trigger = ["inplace.input|layer.relu_inplace|layer.hardtanh_inplace|hierarchy.hook"]
# upstream = "https://github.com/pytorch/executorch/issues/11870"
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/emit/_emit_program.py, _remove_non_user_outputs: it keeps USER_INPUT_MUTATION"
# workaround = "none: ignore the first outputs of the method, one for each input that the model writes to"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The first output of the method is an input, and each result of the model comes later than in eager.

The model writes to its input. The exported graph returns the new value of the input before the results, and
to_executorch leaves it there. It should remove it, as it does for buffers.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        torch.nn.functional.relu(x, inplace=True)
        return x + 1


def make():
    return Model(), (torch.tensor([-1.0, 1.0]),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    got = method.execute(args)[0]
    return model(*args), got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the first output of the method is {got}")
    raise SystemExit(bug)
