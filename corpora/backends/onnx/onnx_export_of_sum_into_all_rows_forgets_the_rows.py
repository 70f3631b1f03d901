# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0"]
#
# [tool.exportdiff]
# title = "torch.onnx.export: index_put with accumulate=True and all rows returns the addend alone"
# id = "XO011"
# harm = "silently wrong"
# reach = "contrived"
# reach-because = "accumulate=True with a constant index that names each row once, in order"
# topics = ["indexing"]
# cause = """
# A rule of the optimizer replaces ScatterND by its updates if the indices name all rows. This is right if the
# updates replace the rows; with accumulate=True, they are added. It should demand the reduction none."""
# path = "onnx:program@cpu"
# check = "outputs"
# kind = "mismatch"
# status = "open"
# signatures = [["outputs", "mismatch", "value"]]
# trigger = ["inplace.index_put_|inplace.scatter|op.index_add"]
# runners = ["program", "file", "external"]
# upstream = "https://github.com/microsoft/onnxscript/pull/3049"
# upstream-match = "mechanism"
# upstream-searched = "2026-11-28"
# at-fault = "onnxscript/rewriter/rules/common/_redundant_scatter_nd.py, ScatterAllStatic: any reduction"
# workaround = "code"
#
# [tool.exportdiff.versions]
# "2.13.0" = "shows"
# ///
"""The converted model returns 1 where eager returns 3: a sum into all rows forgets what was in the rows.

A rule of the optimizer takes ScatterND with the indices 0, 1, 2 for an assignment to the whole tensor. It
does not look at the attribute `reduction`, which is "add" here.
"""

import sys

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        rows = torch.arange(3)
        return x.index_put((rows,), torch.ones(3), accumulate=True)  # first difference


def make():
    return Model(), (torch.full((3,), 2.0),)


def show():
    model, args = make()
    program = torch.onnx.export(torch.export.export(model, args), verbose=False)
    return model(*args), program(*args)[0]


def make_workaround():
    """Add without an index."""

    class Adding(torch.nn.Module):
        def forward(self, x):
            return x + torch.ones(3)

    return Adding(), (torch.full((3,), 2.0),)


if __name__ == "__main__":
    # Exit code 1 means that the bug is there: any other error exits with 3.
    sys.excepthook = lambda *error: sys.exit(sys.__excepthook__(*error) or 3)
    expected, got = show()
    bug = not torch.equal(expected, got)
    print(f"{'BUG' if bug else 'ok'}: eager gives {expected}, the ONNX program {got}")
    raise SystemExit(bug)
