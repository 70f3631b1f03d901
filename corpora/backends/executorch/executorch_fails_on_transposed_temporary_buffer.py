# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "executorch==1.5.1"]
#
# [tool.exportdiff]
# title = "executorch: to_edge fails on a non-persistent buffer that is not contiguous"
# id = "XE010"
# harm = "obscure error"
# reach = "occasional"
# reach-because = "a table that is transposed or sliced, as a buffer with persistent=False"
# topics = ["layout", "buffers"]
# cause = """
# ExportedProgram.constants also has the buffers that are not persistent. convert_constant_dim_order_pass
# makes each of these tensors contiguous, and then looks for an input of the kind CONSTANT_TENSOR with its
# name. The input has the kind BUFFER. The pass should look for both kinds."""
# path = "executorch:portable@cpu"
# check = "outputs"
# kind = "crash"
# status = "open"
# signatures = [["outputs", "crash", "lower", "RuntimeError", "Missing input spec for lifted tensor"]]
# trigger = ["state.scratch|state.one_storage"]
# upstream = ""
# upstream-searched = "2026-11-27"
# at-fault = "executorch/exir/passes/convert_constant_dim_order_pass.py: it looks for CONSTANT_TENSOR alone"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""to_edge raises a RuntimeError: "Missing input spec for lifted tensor table".

The buffer is a transposed tensor, and is not saved with the model. A pass of to_edge makes it contiguous,
and takes it for a constant. It should know that it is a buffer.
"""

import sys

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(6.0).view(3, 2).t(), persistent=False)

    def forward(self, x):
        return x + self.table


def make():
    return Model(), (torch.ones(2, 3),)


def show():
    from executorch.exir import to_edge

    model, args = make()
    to_edge(torch.export.export(model, args)).to_executorch()


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
    except RuntimeError as error:
        if "Missing input spec" not in str(error):
            raise
        sys.exit(f"BUG: eager raises nothing, to_edge raises {error!r:.100}")
    print("ok: neither eager nor to_edge raises")
