# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
#
# [tool.exportdiff]
# id = "XD371"
# title = "AOTInductor: load_constants copies a weight that is a slice from the wrong place in memory"
# harm = "silently wrong"
# reach = "occasional"
# reach-because = "weights are cut from a larger tensor, such as one for queries, keys and values"
# topics = ["constants", "views"]
# cause = """
# `update_constant_buffer` copies as many bytes as the storage of the weight has, from where the weight
# begins. Then it makes a tensor with the storage offset of the weight, so that the offset counts twice. The
# copy reads memory behind the storage, and may write over other weights. It should copy the elements of the
# weight."""
# path = "aoti:updated@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value", "fresh"]]
# trigger = ["state.one_storage"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "torch/csrc/inductor/aoti_runtime/model_container.h, update_constant_buffer: storage size"
# workaround = "none: give load_constants clones of such weights"
#
# [tool.exportdiff.versions]
# "2.9.1" = "shows"
# "2.11.0" = "shows"
# "2.13.0" = "shows"
# "2.14.1" = "shows"
# "2.15.0" = "shows"
# ///
"""Two weights are halves of one tensor. A package into which they are loaded reads the second wrongly.

`update_constant_buffer` copies as many bytes as the storage of the weight has, from where the weight
begins. Then it makes a tensor with the storage offset of the weight, so that the offset counts twice. The
copy reads memory behind the storage, and may write over other weights. It should copy the elements of the
weight.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        both = torch.cat([torch.zeros(9), torch.ones(9)])
        self.query = torch.nn.Parameter(both[:9])
        self.key = torch.nn.Parameter(both[9:])

    def forward(self, x):
        return x * self.query, x * self.key  # first difference


def make():
    return Model(), (torch.ones(9),)


def show():
    model, args = make()
    program = torch.export.export(model, args)
    compiled = torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program))
    compiled.load_constants(model.state_dict(), check_full_update=True)
    return model(*args)[1], compiled(*args)[1]


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the package with its weights {got}")
    raise SystemExit(bug)
