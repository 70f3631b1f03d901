# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD255"
# title = "unflatten: the state dict lacks the buffers of a preserved submodule that is called twice"
# harm = "wrong later"
# reach = "occasional"
# reach-because = "a preserved submodule with a buffer, called twice: its buffer is not loaded"
# topics = ["buffers", "shared-modules"]
# cause = """
# The calls are collected in an InterpreterModuleDispatcher. It takes over the state of the first call with
# setattr, which registers parameters, but not buffers. So load_state_dict of the original state raises
# "Unexpected key(s)", and with strict=False it does not load the buffer."""
# path = "nonstrict+preserve:unflatten@cpu"
# check = "state"
# kind = "mismatch"
# status = "open"
# signatures = [["state", "mismatch", "missing", "buffer"]]
# fix = "unflatten_registers_buffers_of_dispatcher"
# upstream = "https://github.com/pytorch/pytorch/pull/139439"
# upstream-match = "place"
# upstream-searched = "2026-11-26"
# at-fault = "torch/export/unflatten.py, InterpreterModuleDispatcher.__init__: setattr"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A preserved submodule with a buffer is called twice. The state dict of the unflattened module does not have
the buffer.

The calls are collected in an InterpreterModuleDispatcher. It takes over the state of the first call with
setattr, which registers parameters, but not buffers. So load_state_dict of the original state raises
"Unexpected key(s)", and with strict=False it does not load the buffer.
"""

import sys

import torch


class Child(torch.nn.Module):
    def forward(self, x):
        return x + self.offset


class Model(torch.nn.Module):
    def forward(self, x):
        return self.child(self.child(x))


def make():
    model = Model()
    model.child = Child()
    model.child.register_buffer("offset", torch.ones(1))
    return model, (torch.ones(1),)


def show():
    model, args = make()
    ep = torch.export.export(model, args, preserve_module_call_signature=("child",))
    return [*model.state_dict()], [*torch.export.unflatten(ep).state_dict()]


def make_workaround():
    """Make it a parameter that needs no gradient."""
    model = Model()
    model.child = Child()
    model.child.offset = torch.nn.Parameter(torch.ones(1), requires_grad=False)
    return model, (torch.ones(1),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = expected != got
    print(f"{'BUG' if bug else 'ok'}: the state of eager is {expected}, that of unflatten is {got}")
    raise SystemExit(bug)
