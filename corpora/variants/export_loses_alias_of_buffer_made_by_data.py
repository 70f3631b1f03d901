# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# title = "an input that is made an alias of a buffer by an assignment to .data stays apart"
# variant-of = "export_ignores_assignment_to_data"
# path = "nonstrict:module@cpu"
# check = "aliasing"
# kind = "mismatch"
# status = "open"
# signatures = [["aliasing", "mismatch", "no-longer-shared", "buffer", "input", "output"]]
# fix = "record_assignment_to_data"
# upstream = ""
# at-fault = "torch/fx/experimental/proxy_tensor.py, PreDispatchTorchFunctionMode: Tensor.data.__set__"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""`x.data = self.state` puts the caller's tensor into the memory of the buffer; the program does not.

The setter calls no operator, and as the values are equal beforehand, nothing shows until something writes to
the output.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.ones(1))

    def forward(self, x):
        x.data = self.state
        return x


def make():
    return Model(), (torch.ones(1),)


def show():
    model, args = make()
    program = torch.export.export(model, args, strict=False).module()
    program(torch.ones(1)).zero_()
    return torch.zeros(1), program.state


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: the output zeroed, state is {expected} in eager, {got} after export")
    raise SystemExit(bug)
