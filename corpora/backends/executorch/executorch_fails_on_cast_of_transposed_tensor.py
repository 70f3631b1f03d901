# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge fails on a cast or a clone of a transposed tensor, such as that of nonzero()"
# id = "XE035"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "x.nonzero().float(), or a transposed table that is cast where it is used"
# topics = ["layout", "buffers"]
# cause = """
# Without memory_format, MemoryFormatOpsPass gives a cast or a clone the dim order of its input, here [1, 0].
# The operator then asks get_memory_format for the torch.memory_format, and there is none but contiguous and
# channels_last. For other orders, the pass should take the contiguous one."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "AssertionError", "pass_base.py:__call__"]]
# trigger = ["state.transposed|state.one_storage|input.transposed|op.nonzero"]
# upstream = "https://github.com/pytorch/executorch/pull/17611"
# upstream-match = "place"
# upstream-searched = "2026-11-28"
# at-fault = "executorch/exir/passes/memory_format_ops_pass.py, call_operator: input_tensor.dim_order()"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge raises AssertionError: "Failed to map a given dim_order: [1, 0] to a torch.memory_format".

The model casts a transposed buffer of integers. A pass of to_edge demands that the result keeps the memory
layout of the buffer, and no memory format has this layout. The result should be contiguous.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(6).view(3, 2).t())

    def forward(self, x):
        return x + self.table.float()


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    from executorch.exir import to_edge

    model, args = make()
    to_edge(torch.export.export(model, args))


def make_workaround():
    """Make the buffer contiguous."""
    model = Model()
    model.table = model.table.contiguous()
    return model, (torch.ones(2, 3),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    try:
        show()
    except AssertionError as error:
        if "Failed to map a given dim_order" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.100}")
    print("ok: neither eager nor to_edge raises")
