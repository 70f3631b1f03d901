# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: a write to a parameter is lost, and its new value becomes the first output"
# id = "XE013"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "a model that writes to a parameter in forward, under no_grad"
# topics = ["in-place"]
# cause = """
# torch.export returns the new value as an output of the kind PARAMETER_MUTATION.
# insert_write_back_for_buffers_pass writes back outputs of the kinds BUFFER_MUTATION and
# USER_INPUT_MUTATION alone, and takes this one for a result of the model. It should write back all three,
# or refuse the model. If the model also writes to a buffer, results and new values change places: without
# planned memory for outputs, the process dies in the call."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "structure"], ["alive", "abort", "SIGSEGV"]]
# trigger = ["inplace.parameter"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/passes/insert_write_back_for_buffers_pass.py: it leaves out PARAMETER_MUTATION"
# workaround = "none: make a buffer of the parameter, and ignore the first output"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The parameter has its first value in each call, and the method returns its new value before the results.

The model writes to a parameter under no_grad. The pass of to_executorch that writes new values back knows
buffers and inputs, and no parameters. It should write back the parameter too.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        with torch.no_grad():
            self.scale.add_(1)  # first difference
        return x * self.scale


def make():
    return Model(), (torch.ones(2),)


def show():
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    model, args = make()
    program = to_edge(torch.export.export(model, args)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    model(*args)
    method.execute(args)
    got = method.execute(args)[-1]
    return model(*args).detach(), got


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.allclose(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the method {got}")
    raise SystemExit(bug)
