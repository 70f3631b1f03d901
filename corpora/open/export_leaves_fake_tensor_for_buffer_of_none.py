# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD130"
# title = "torch.export: a buffer that was None stays on the model as a fake tensor"
# harm = "wrong later"
# reach = "everyday"
# reach-because = "a mask or a cache made on the first call: the exported model then returns fake tensors"
# evidence = ["https://github.com/pytorch/pytorch/issues/163189"]
# topics = ["buffers", "kv-cache"]
# cause = """
# Non-strict export restores attributes after tracing, except those that every nn.Module has, such as the dict
# of buffers. So the fake tensor stays in it. `_detect_attribute_assignment` should restore buffers as
# well."""
# path = "nonstrict:module@cpu"
# check = "purity"
# kind = "mismatch"
# status = "open"
# signatures = [["purity", "mismatch", "export", "buffer", "created"]]
# fix = "export_restores_own_attributes_of_modules"
# upstream = "https://github.com/pytorch/pytorch/issues/163189"
# upstream-match = "mechanism"
# at-fault = "torch/_functorch/_aot_autograd/frontend_utils.py, _detect_attribute_assignment"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""A model creates a buffer, which was None, in its first call. If it was exported first, it returns fake
tensors in eager.

Non-strict export restores attributes after tracing, except those that every nn.Module has, such as the dict
of buffers. So the fake tensor stays in it. `_detect_attribute_assignment` should restore buffers as well.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", None)

    def forward(self, x):
        if self.mask is None:
            self.mask = torch.ones(2, 2).tril()
        return self.mask @ x


def make():
    return Model(), (torch.ones(2),)


def show():
    model, args = make()
    torch.export.export(model, args)
    return make()[0](*args), model(*args)


def make_workaround():
    """Make the buffer in __init__."""

    class Ready(Model):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.ones(2, 2).tril())

        def forward(self, x):
            return self.mask @ x

    return Ready(), (torch.ones(2),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = type(expected) is not type(got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, after export it gives {got}")
    raise SystemExit(bug)
